"""Run in a child: the traces at full and at small size, laid over each other."""

import inspect
import keyword
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from egg.tools.expert.region import Graph
from egg.tools.expert.trace import Inexpressible, Trace, trace
from egg.tools.expert.unify import Source

RESERVED = {"torch", "triton", "tl", "nn", "math", "self", "out", "total", "shape", "grid", "row", "column", "offsets"}
RESERVED |= {"inside", "block", "device", "size", "stride", "dtype", "META", "rows", "columns", "mask", "index"}


@dataclass
class Capture:
    """A problem as kinds and the writer see it."""

    full: Trace
    graph: Graph
    expressions: dict[Node, str]
    """How `forward` reads a placeholder: `x`, `self.norm.weight`."""
    attributes: list[Source]
    """Numbers that the module holds: `self.heads`."""
    constants: list[Source]
    """Numbers at the top of its file: `HEADS`. A last resort, since what is read from tensors holds at any size."""


def capture(source: str, small_source: str | None, name: str = "problem", *, collapsed: bool = False) -> Capture:
    """Trace both sizes. Raises Inexpressible."""
    full = trace(source, name, collapsed=collapsed)
    small = trace(small_source, name, collapsed=collapsed) if small_source and small_source != source else full
    twin = _pair(full, small)
    names = _names(full)
    graph = Graph(
        nodes=full.calls,
        twin=twin,
        names=names,
        parameters=set(full.origins),
        outputs={result for result in full.results if isinstance(result, Node)},
    )
    expressions = {node: names[node] for node in full.inputs}
    expressions |= {node: _path(target) for node, target in full.origins.items()}
    attributes = _attributes(full.module, small.module)
    constants = _constants(full.module, small.module, taken=set(names.values()))
    return Capture(full, graph, expressions, attributes, constants)


def _pair(full: Trace, small: Trace) -> dict[Node, Node]:
    """Each node of the full trace with its twin. Raises Inexpressible where the two compute different things."""
    ours, theirs = ([n for n in t.graph_module.graph.nodes if n.op != "output"] for t in (full, small))
    if len(ours) != len(theirs):
        raise Inexpressible("it computes different things at different sizes")
    twin = dict(zip(ours, theirs, strict=True))
    for one, other in twin.items():
        same = one.op == other.op and (one.op == "placeholder" or one.target == other.target)
        if not same or [twin.get(n) for n in one.all_input_nodes] != other.all_input_nodes:
            raise Inexpressible("it computes different things at different sizes")
    return twin


def _names(full: Trace) -> dict[Node, str]:
    """A readable, unique variable for each node."""
    taken: set[str] = set()
    names: dict[Node, str] = {}
    wanted = {node: node.name for node in full.inputs}
    wanted |= {node: target.replace(".", "_") for node, target in full.origins.items()}
    for node in full.graph_module.graph.nodes:
        name = wanted.get(node, node.name)
        if name in RESERVED or keyword.iskeyword(name) or not name.isidentifier():
            name = f"{name}_" if f"{name}_".isidentifier() else f"v{name}"
        while name in taken:
            name += "_"
        taken.add(name)
        names[node] = name
    return names


def _path(target: str) -> str:
    text = "self"
    for part in target.split("."):
        text += f"[{part}]" if part.isdigit() else f".{part}"
    return text


def _attributes(full: torch.nn.Module, small: torch.nn.Module) -> list[Source]:
    """Whole and real numbers kept on the module and its submodules."""
    others: dict[str, Any] = dict(small.named_modules())
    found: list[Source] = []
    for path, module in full.named_modules():
        for name, value in vars(module).items():
            if not name.startswith("_"):
                other = getattr(others.get(path), name, None)
                found += _number(_path(f"{path}.{name}" if path else name), value, other)
    return found


def _constants(full: torch.nn.Module, small: torch.nn.Module, taken: set[str]) -> list[Source]:
    """Numbers at the top of the problem's file, but for names that `forward` gives to something else."""
    ours, theirs = (inspect.unwrap(type(module).forward).__globals__ for module in (full, small))
    if ours["__name__"] != type(full).__module__:  # `forward` is inherited from another file
        return []
    named = [(name, value) for name, value in ours.items() if name not in taken and not name.startswith("_")]
    return [source for name, value in named for source in _number(name, value, theirs.get(name))]


def _number(text: str, full: Any, small: Any) -> list[Source]:
    """One source, if it is a number of the same type at both sizes."""
    number = isinstance(full, int | float) and not isinstance(full, bool) and type(full) is type(small)
    return [Source(text, full, small)] if number else []
