"""A graph call as readable PyTorch, with sizes as run-time expressions."""

import types
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Node

from egg.tools.expert.cleanup import base_name
from egg.tools.expert.region import Graph
from egg.tools.expert.unify import Source, express, literal

END = 2**63 - 1
TORCH_TYPES = (torch.dtype, torch.memory_format, torch.layout)


class Unprintable(Exception):
    """A call that cannot be written for both sizes; the message says which."""


class Printer:
    """Writes one call after the other.

    Args:
        name: the variable or expression of a node.
        sources: what sizes may be expressed with at this point of `forward`.
        constants: what else, where those do not suffice.
    """

    def __init__(
        self,
        graph: Graph,
        name: Callable[[Node], str],
        sources: list[Source],
        constants: list[Source],
        device: str,
    ) -> None:
        self.graph, self.name, self.device = graph, name, device
        self.sources, self.constants = sources, constants

    def call(self, node: Node) -> str:
        """The call's text, without the assignment."""
        if self.graph.op(node) == "getitem":
            return f"{self.value(node, node.args[0], None)}[{node.args[1]}]"
        name, twin = base_name(node), self.graph.twin[node]
        special = SPECIAL.get(name)
        if special is not None:
            return special(self, node)
        args = [self.value(node, a, b) for a, b in zip(node.args, twin.args, strict=True)]
        words = {key: self.value(node, node.kwargs[key], twin.kwargs[key]) for key in node.kwargs}
        words = {key: text for key, text in words.items() if text not in ("None",) and key != "pin_memory"}
        keywords = [f"{key}={text}" for key, text in words.items()]
        first = node.args[0] if node.args else None
        if isinstance(getattr(torch.nn.functional, name, None), types.BuiltinFunctionType):
            return f"torch.nn.functional.{name}({', '.join([*args, *keywords])})"
        if isinstance(first, Node) and isinstance(getattr(torch.Tensor, name, None), types.MethodDescriptorType):
            return f"{args[0]}.{name}({', '.join([*args[1:], *keywords])})"
        if isinstance(getattr(torch, name, None), types.BuiltinFunctionType):
            return f"torch.{name}({', '.join([*args, *keywords])})"
        return f"torch.ops.{self.graph.op(node)}({', '.join([*args, *keywords])})"

    def value(self, node: Node, full: Any, small: Any) -> str:
        """An argument of `node`."""
        if isinstance(full, Node):
            return self.name(full)
        if isinstance(full, list | tuple):
            inside = [self.value(node, a, b) for a, b in zip(full, small, strict=True)]
            return f"[{', '.join(inside)}]"
        if isinstance(full, torch.device):
            return self.device
        if isinstance(full, TORCH_TYPES):
            return str(full)
        if isinstance(full, bool) or full is None:
            return repr(full)
        if isinstance(full, int | float):
            return self.number(node, full, small)
        if isinstance(full, str):
            return repr(full)
        raise Unprintable(f"{node.name}: an argument of type {type(full).__name__}")

    def number(self, node: Node, full: float, small: float) -> str:
        own = [source for operand in node.all_input_nodes for source in self._dimensions(operand)]
        text = express(full, small, [*own, *self.sources], self.constants)
        if text is None:
            raise Unprintable(f"{node.name}: {full} at full size and {small} at small size have no common expression")
        return text

    def sizes(self, node: Node, position: int = 1) -> list[str]:
        """A shape argument; leading sizes that are the operand's own are read from it, even if they never changed."""
        full, small = _shape(node.args[position:]), _shape(self.graph.twin[node].args[position:])
        operand = node.args[0]
        assert isinstance(operand, Node)
        own = self._dimensions(operand)
        found: list[str] = []
        for i, (a, b) in enumerate(zip(full, small, strict=True)):
            aligned = len(found) == i and i < len(own) and all(text == own[j].text for j, text in enumerate(found))
            same = aligned and (own[i].full, own[i].small) == (a, b)
            found.append(own[i].text if same else self.number(node, a, b))
        return found

    def _dimensions(self, node: Node) -> list[Source]:
        if not isinstance(node.meta.get("val"), torch.Tensor):
            return []
        pairs = zip(self.graph.shape(node), self.graph.shape(self.graph.twin[node]), strict=True)
        return [Source(f"{self.name(node)}.shape[{i}]", full, small) for i, (full, small) in enumerate(pairs)]


def _shape(args: tuple[Any, ...]) -> list[int]:
    return list(args[0]) if args and isinstance(args[0], list | tuple) else [a for a in args if isinstance(a, int)]


def _reshape(printer: Printer, node: Node) -> str:
    """`reshape`, since what was a view of one layout may not be of ours."""
    return f"{printer.value(node, node.args[0], None)}.reshape({', '.join(printer.sizes(node))})"


def _expand(printer: Printer, node: Node) -> str:
    return f"{printer.value(node, node.args[0], None)}.expand({', '.join(printer.sizes(node))})"


def _slice(printer: Printer, node: Node) -> str:
    arguments, twins = printer.graph.arguments(node), printer.graph.arguments(printer.graph.twin[node])
    operand = arguments["self"]
    dim = arguments["dim"] % len(printer.graph.shape(operand))

    def bound(name: str, default: int) -> str:
        full, small = arguments[name], twins[name]
        if full is None or full == default:
            return ""
        if full == END or full >= printer.graph.shape(operand)[dim]:
            return ""
        return printer.number(node, full, small)

    step = "" if arguments["step"] == 1 else f":{literal(arguments['step'])}"
    return f"{printer.name(operand)}[{':, ' * dim}{bound('start', 0)}:{bound('end', END)}{step}]"


def _select(printer: Printer, node: Node) -> str:
    arguments, twins = printer.graph.arguments(node), printer.graph.arguments(printer.graph.twin[node])
    operand = arguments["self"]
    dim = arguments["dim"] % len(printer.graph.shape(operand))
    return f"{printer.name(operand)}[{':, ' * dim}{printer.number(node, arguments['index'], twins['index'])}]"


def _to(printer: Printer, node: Node) -> str:
    operand = printer.value(node, node.args[0], None)
    return f"{operand}.to({node.meta['val'].dtype})"


def _split(printer: Printer, node: Node) -> str:
    args = [printer.value(node, a, b) for a, b in zip(node.args, printer.graph.twin[node].args, strict=True)]
    return f"{args[0]}.split({', '.join(args[1:])})"


SPECIAL: dict[str, Callable[[Printer, Node], str]] = {
    "view": _reshape,
    "reshape": _reshape,
    "_unsafe_view": _reshape,
    "expand": _expand,
    "slice": _slice,
    "select": _select,
    "split": _split,
    "split_with_sizes": _split,
    "to": _to,
    "_to_copy": _to,
    "type_as": _to,
}
