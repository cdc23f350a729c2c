"""Chains of pointwise ATen operators as Triton statements: the body of pointwise kernels, and every epilogue."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from egg.tools.expert.operators import COMPARISONS, LOGICAL, OPERANDS, REGISTER, RULES, SAME
from egg.tools.expert.region import Graph, Region, Value
from egg.tools.expert.unify import literal

if TYPE_CHECKING:
    from torch.fx import Node

ORDER = ("int1", "int32", "int64", "float32", "float64")


def is_pointwise(graph: Graph, node: "Node") -> bool:
    """Whether `lines` can write this node."""
    name = graph.op(node).removeprefix("aten.")
    if name not in RULES or not _one_tensor(graph, node):
        return False
    tensors = _tensor_operands(graph, node)
    if not tensors or any(not _known_type(n) for n in (*tensors, node)):
        return False
    text = _Writer(graph, dict.fromkeys(tensors, "x"), None).expression(node)
    return text is not None


def is_trivial(graph: Graph, node: "Node") -> bool:
    """Whether a pointwise node computes nothing: a copy, a broadcast, a change of type."""
    return graph.op(node).removeprefix("aten.") in SAME


def lines(
    region: Region,
    nodes: "tuple[Node, ...]",
    values: "dict[Node, str]",
    load: Callable[[Value], str],
    scalars: dict[str, str],
) -> list[str]:
    """Triton statements that compute `nodes`, without indent.

    Args:
        values: what is in registers already, as Triton expressions of the register type (see `operators.REGISTER`;
            half precision is float32 there). Gains every node and every tensor loaded.
        load: the expression that loads an outside tensor at the kind's tile, in the tensor's own type.
        scalars: gains kernel parameters for numbers that depend on the sizes: name -> expression in the host.
    """
    writer = _Writer(region.graph, values, region, load, scalars)
    for node in nodes:
        writer.add(node)
    return writer.lines


def in_register(value: Value, loaded: str) -> str:
    """A loaded tensor converted to its register type."""
    register = REGISTER[value.dtype]
    return loaded if register in (value.dtype, "int1") else f"{loaded}.to(tl.{register})"


class _Writer:
    """Writes one node after the other; without a region it only tries whether a node can be written."""

    def __init__(
        self,
        graph: Graph,
        values: "dict[Node, str]",
        region: Region | None,
        load: Callable[[Value], str] | None = None,
        scalars: dict[str, str] | None = None,
    ) -> None:
        self.graph, self.values, self.region, self.load = graph, values, region, load
        self.scalars = scalars if scalars is not None else {}
        self.lines: list[str] = []

    def add(self, node: "Node") -> None:
        for operand in _tensor_operands(self.graph, node):
            self._fetch(operand)
        text = self.expression(node)
        if text is None:
            raise ValueError(f"{node.target} is not a pointwise operator that can be written")
        if not text.isidentifier():
            name = f"v_{self.graph.names[node]}"
            self.lines.append(f"{name} = {text}")
            text = name
        self.values[node] = text

    def expression(self, node: "Node") -> str | None:
        """The node's value in its register type."""
        name = self.graph.op(node).removeprefix("aten.")
        result, common = REGISTER[self.graph.dtype(node)], self._common(node, name)
        operands, options = self._arguments(node, name, common)
        if any(option is None for option in options.values()):
            return None
        text = RULES[name](operands, {k: v for k, v in options.items() if v is not None}, common)
        if text is None:
            return None
        produced = "int1" if name in (*COMPARISONS, *LOGICAL) else common
        if name in SAME and self.graph.dtype(node) in ("float16", "bfloat16"):
            source = self.graph.dtype(_tensor_operands(self.graph, node)[0])
            if source != self.graph.dtype(node):
                return f"({text}).to(tl.{self.graph.dtype(node)}).to(tl.float32)"
        return convert(text, produced, result)

    def _common(self, node: "Node", name: str) -> str:
        """The register type that the operands meet in."""
        tensors = [REGISTER[self.graph.dtype(n)] for n in _tensor_operands(self.graph, node)]
        if name in LOGICAL:
            return "int1"
        if name in SAME:
            return tensors[0]
        if name not in COMPARISONS:
            return REGISTER[self.graph.dtype(node)]
        numbers = [value for value in self.graph.arguments(node).values() if isinstance(value, float)]
        widest = max(tensors, key=ORDER.index)
        return "float32" if numbers and widest.startswith("int") else widest

    def _arguments(self, node: "Node", name: str, common: str) -> tuple[list[str], dict[str, str | None]]:
        """Operands in registers, and the options as literals; an option that is a tensor is None: not supported."""
        operands: list[str] = []
        options: dict[str, str | None] = {}
        positional = len(node.args)
        for i, (argument, value) in enumerate(self.graph.arguments(node).items()):
            is_node = hasattr(value, "op")
            if argument in OPERANDS and (is_node or i < positional):
                if name in SAME and operands:
                    continue
                wanted = "int1" if argument in ("condition", "mask") else common
                operands.append(self._operand(node, argument, value, wanted))
            elif is_node:
                options[argument] = None
            elif value is None or isinstance(value, bool | int | float):
                options[argument] = self._number(node, argument, value)
            else:
                options[argument] = str(value)
        return operands, options

    def _operand(self, node: "Node", argument: str, value: Any, register: str) -> str:
        if not hasattr(value, "op"):
            return self._number(node, argument, value)
        return convert(self.values[value], REGISTER[self.graph.dtype(value)], register)

    def _number(self, node: "Node", argument: str, full: Any) -> str:
        small = self.graph.arguments(self.graph.twin[node]).get(argument)
        if self.region is None or full == small or full is None:
            return literal(full)
        host = self.region.number(full, 0 if small is None else small)
        for name, text in self.scalars.items():
            if text == host:
                return name
        name = f"scalar_{len(self.scalars)}"
        self.scalars[name] = host
        return name

    def _fetch(self, node: "Node") -> None:
        if node in self.values or self.load is None:
            return
        value = self.graph.value(node)
        name = f"v_{value.name}"
        self.lines.append(f"{name} = {in_register(value, self.load(value))}")
        self.values[node] = name


def convert(text: str, source: str, target: str) -> str:
    """A register value in another register type."""
    if source == target:
        return text
    if target == "int1":
        return f"({text} != 0)"
    return f"{text}.to(tl.{target})" if text.isidentifier() else f"({text}).to(tl.{target})"


def _tensor_operands(graph: Graph, node: "Node") -> "list[Node]":
    arguments = graph.arguments(node).items()
    found = [value for name, value in arguments if hasattr(value, "op") and name in OPERANDS]
    return found[:1] if is_trivial(graph, node) else found


def _one_tensor(graph: Graph, node: "Node") -> bool:
    return hasattr(node.meta.get("val"), "dtype")


def _known_type(node: "Node") -> bool:
    tensor: Any = node.meta.get("val")
    return hasattr(tensor, "dtype") and str(tensor.dtype).removeprefix("torch.") in REGISTER
