"""The captured graph as kinds see it, and a region of it. Duck-typed: importing this does not import torch."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from egg.tools.expert.unify import Source, express

if TYPE_CHECKING:
    from torch.fx import Node

ITEM_BYTES = {"float64": 8, "int64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2, "int16": 2}


@dataclass(frozen=True)
class Value:
    """A tensor of the graph. `shape` is the problem's own, `small_shape` that of the small problem."""

    name: str
    """Its variable in the host function; the kernel's pointer is `<name>_ptr` by habit."""
    shape: tuple[int, ...]
    small_shape: tuple[int, ...]
    dtype: str
    """Without the `torch.` prefix."""
    contiguous: bool
    """As traced; call `.contiguous()` or pass strides where it is False."""
    row_strided: bool
    """Not contiguous, but its last dimension is (a slice, heads taken apart): strides can take a copy's place."""
    parameter: bool
    """A parameter or buffer of the module, not computed from the inputs."""

    @property
    def elements(self) -> int:
        total = 1
        for size in self.shape:
            total *= size
        return total

    @property
    def bytes(self) -> int:
        return self.elements * ITEM_BYTES.get(self.dtype, 1)

    def sources(self) -> list[Source]:
        """Run-time expressions for its dimensions."""
        pairs = zip(self.shape, self.small_shape, strict=True)
        return [Source(f"{self.name}.shape[{i}]", full, small) for i, (full, small) in enumerate(pairs)]


@dataclass
class Graph:
    """ATen calls of one forward pass at full size, each with its twin at small size."""

    nodes: "list[Node]"
    """Calls only, in order."""
    twin: "dict[Node, Node]"
    """The same node in the small trace; a node's twin is itself where there is no small problem."""
    names: "dict[Node, str]"
    """A Python variable for each node and placeholder."""
    parameters: "set[Node]" = field(default_factory=set)
    outputs: "set[Node]" = field(default_factory=set)
    """Nodes that the module returns."""

    def op(self, node: "Node") -> str:
        """`aten.layer_norm`, without the overload; `getitem` for one of several outputs; empty for an input."""
        if node.op != "call_function":
            return ""
        target: Any = node.target
        packet = getattr(target, "overloadpacket", None)
        return str(packet) if packet is not None else str(getattr(target, "__name__", target))

    def arguments(self, node: "Node") -> dict[str, Any]:
        """All arguments by their ATen names, defaults filled in; tensors are nodes."""
        target: Any = node.target
        schema = getattr(target, "_schema", None)
        if schema is None:
            return {str(i): value for i, value in enumerate(node.args)}
        found: dict[str, Any] = {}
        for i, argument in enumerate(schema.arguments):
            if i < len(node.args):
                found[argument.name] = node.args[i]
            elif argument.name in node.kwargs:
                found[argument.name] = node.kwargs[argument.name]
            else:
                found[argument.name] = argument.default_value
        return found

    def users(self, node: "Node") -> "tuple[Node, ...]":
        return tuple(node.users)

    def returned(self, node: "Node") -> bool:
        """Whether the module returns this node itself."""
        return node in self.outputs

    def shape(self, node: "Node") -> tuple[int, ...]:
        """At full size; empty for a scalar. Raises AttributeError for a node with several outputs."""
        return tuple(int(size) for size in node.meta["val"].shape)

    def dtype(self, node: "Node") -> str:
        return str(node.meta["val"].dtype).removeprefix("torch.")

    def value(self, node: "Node") -> Value:
        """The tensor that a node or placeholder stands for."""
        tensor, small = node.meta["val"], self.twin[node].meta["val"]
        in_rows = all(t.dim() > 1 and t.stride(-1) == 1 for t in (tensor, small))
        return Value(
            name=self.names[node],
            shape=self.shape(node),
            small_shape=self.shape(self.twin[node]),
            dtype=self.dtype(node),
            contiguous=bool(tensor.is_contiguous()),
            row_strided=in_rows and not tensor.is_contiguous(),
            parameter=node in self.parameters,
        )


@dataclass
class Region:
    """A part of the graph that one host function computes: prologue, anchors, epilogue."""

    name: str
    kind: str
    graph: Graph
    anchors: "tuple[Node, ...]"
    """What the kind matched."""
    anchor_outputs: "tuple[Node, ...]"
    prologue: "tuple[Node, ...]" = ()
    """Pointwise nodes before the anchors, in order. Their only users are in the region."""
    epilogue: "tuple[Node, ...]" = ()
    """Pointwise nodes after the anchors, in order."""
    facts: dict[str, Any] = field(default_factory=dict)
    """The match's facts."""
    numbers: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    """Further host parameters, each with its value at full and at small size."""

    @property
    def nodes(self) -> "tuple[Node, ...]":
        """Every node computed here, in graph order."""
        return (*self.prologue, *self.anchors, *self.epilogue)

    @property
    def input_nodes(self) -> "tuple[Node, ...]":
        """Tensors from outside, in the order of the host function's parameters."""
        inside = set(self.nodes)
        found = dict.fromkeys(n for node in self.nodes for n in node.all_input_nodes if n not in inside)
        return tuple(found)

    @property
    def inputs(self) -> tuple[Value, ...]:
        return tuple(self.graph.value(node) for node in self.input_nodes)

    @property
    def output_nodes(self) -> "tuple[Node, ...]":
        """What the host function returns, in order: nodes used outside the region or returned by the module."""
        inside = set(self.nodes)
        return tuple(
            node for node in self.nodes if self.graph.returned(node) or any(user not in inside for user in node.users)
        )

    @property
    def outputs(self) -> tuple[Value, ...]:
        return tuple(self.graph.value(node) for node in self.output_nodes)

    def number(self, full: float, small: float) -> str:
        """A scalar that may depend on the sizes, as an expression valid in the host function.

        A literal where both traces agree, else from the shapes of the inputs, else a further parameter of the host.
        """
        sources = [source for value in self.inputs for source in value.sources()]
        if text := express(full, small, sources):
            return text
        for name, pair in self.numbers.items():
            if pair == (full, small):
                return name
        name = f"number_{len(self.numbers)}"
        self.numbers[name] = (full, small)
        return name

    def argument(self, node: "Node", name: str) -> str:
        """A scalar ATen argument as an expression valid in the host function."""
        full = self.graph.arguments(node)[name]
        small = self.graph.arguments(self.graph.twin[node])[name]
        return self.number(full, small)

    def size(self, node: "Node", dim: int) -> str:
        """One dimension of any node of the region as an expression valid in the host function."""
        return self.number(self.graph.shape(node)[dim], self.graph.shape(self.graph.twin[node])[dim])

    @property
    def parameters(self) -> str:
        """The host function's parameter list. Read it last: `number` may add to it."""
        return ", ".join([*(value.name for value in self.inputs), *self.numbers])


def in_order(graph: Graph, nodes: "Iterable[Node]") -> "tuple[Node, ...]":
    """The nodes in graph order."""
    wanted = set(nodes)
    return tuple(node for node in graph.nodes if node in wanted)
