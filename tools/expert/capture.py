"""Run in a child: the traces at full and at small size, laid over each other."""

import keyword
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from egg.tools.expert.region import Graph
from egg.tools.expert.trace import Inexpressible, Trace, trace
from egg.tools.expert.unify import Source
from egg.tools.shrink import constants

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
    """Numbers that the module holds, `self.heads`, or that its file does, `HEADS`."""


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
    numbers = _attributes(full.module, small.module)
    numbers += [s for s in _constants(source, small_source or source) if s.text not in names.values()]
    return Capture(full, graph, expressions, numbers)


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


def _constants(source: str, small_source: str) -> list[Source]:
    """Sizes at the top of the file, as far as it is the same file at both sizes."""
    full, small = constants(source), constants(small_source)
    return [Source(name, size, small[name]) for name, size in full.items() if name.isidentifier() and name in small]


def _attributes(full: torch.nn.Module, small: torch.nn.Module) -> list[Source]:
    """Whole and real numbers kept on the module and its submodules."""
    others: dict[str, Any] = dict(small.named_modules())
    found: list[Source] = []
    for path, module in full.named_modules():
        for name, value in vars(module).items():
            other: Any = getattr(others.get(path), name, None)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if is_number and type(other) is type(value) and not name.startswith("_"):
                found.append(Source(_path(f"{path}.{name}" if path else name), value, other))
    return found
