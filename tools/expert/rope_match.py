"""Finds rotary embeddings: x * cos + rotate(x) * sin, or the two rotated halves joined by cat."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from egg.tools.expert.neighbours import closed, is_node, operands

if TYPE_CHECKING:
    from torch.fx import Node

    from egg.tools.expert.region import Graph

FLOATS = ("float32", "float16", "bfloat16")


@dataclass
class Pattern:
    """What was found. Nodes are in no particular order."""

    x: "Node"
    cos: "Node"
    sin: "Node"
    layout: str
    """`halves`: x[i] turns with x[i + size / 2]; `pairs`: x[2 i] with x[2 i + 1]."""
    half_tables: bool
    """cos and sin hold one value for both of a pair."""
    nodes: "list[Node]"


@dataclass
class Part:
    """A half (or every second value) of `x`."""

    x: "Node"
    layout: str
    second: bool
    nodes: "list[Node]"


def find(graph: "Graph", root: "Node") -> Pattern | None:
    """The rotation whose result is `root`."""
    found = None
    if graph.op(root) == "aten.add" and graph.arguments(root)["alpha"] == 1:
        found = _turned_whole(graph, root)
    elif graph.op(root) == "aten.cat":
        found = _joined(graph, root)
    return found if found and _fits(graph, found, root) and closed(graph, found.nodes, root) else None


def _turned_whole(graph: "Graph", root: "Node") -> Pattern | None:
    """x * cos + rotate(x) * sin, with every product's factors in either order."""
    for plain, turned in (operands(graph, root), operands(graph, root)[::-1]):
        if not (_is(graph, plain, "aten.mul") and _is(graph, turned, "aten.mul")):
            continue
        for rotated, sin in (operands(graph, turned), operands(graph, turned)[::-1]):
            rotation = _rotation(graph, rotated) if is_node(rotated) and is_node(sin) else None
            if rotation is None:
                continue
            x, layout, nodes = rotation
            left, right = operands(graph, plain)
            cos = right if left is x else left if right is x else None
            if cos is not None and is_node(cos):
                return Pattern(x, cos, sin, layout, False, [root, plain, turned, *nodes])
    return None


def _rotation(graph: "Graph", node: "Node") -> "tuple[Node, str, list[Node]] | None":
    """cat(-second, first), or the same of every second value by stack and view."""
    nodes = []
    layout = "halves"
    if graph.op(node) in ("aten.view", "aten.reshape", "aten.flatten"):
        nodes, layout = [node], "pairs"
        node = graph.arguments(node)["self"]
    wanted = "aten.cat" if layout == "halves" else "aten.stack"
    if not _is(graph, node, wanted) or not _along_last(graph, node):
        return None
    parts = graph.arguments(node)["tensors"]
    if len(parts) != 2 or not _is(graph, parts[0], "aten.neg"):
        return None
    second, first = _part(graph, graph.arguments(parts[0])["self"]), _part(graph, parts[1])
    if not (first and second) or first.x is not second.x or not second.second or first.second:
        return None
    if first.layout != layout or second.layout != layout:
        return None
    return first.x, layout, [*nodes, node, parts[0], *first.nodes, *second.nodes]


def _joined(graph: "Graph", root: "Node") -> Pattern | None:
    """cat(first * cos - second * sin, second * cos + first * sin): tables of half the size."""
    parts = graph.arguments(root)["tensors"]
    if not _along_last(graph, root) or len(parts) != 2:
        return None
    minus, plus = parts
    if not (_is(graph, minus, "aten.sub") and _is(graph, plus, "aten.add")):
        return None
    if graph.arguments(minus)["alpha"] != 1 or graph.arguments(plus)["alpha"] != 1:
        return None
    products = [*operands(graph, minus), *operands(graph, plus)]
    if not all(_is(graph, product, "aten.mul") for product in products):
        return None
    first_cos, second_sin = (_factors(graph, product) for product in products[:2])
    if not (first_cos and second_sin):
        return None
    (first, cos), (second, sin) = first_cos, second_sin
    if first.second or not second.second or first.x is not second.x or {first.layout, second.layout} != {"halves"}:
        return None
    wanted = {(True, cos), (False, sin)}
    rest = [_factors(graph, product) for product in products[2:]]
    if {(pair[0].second, pair[1]) for pair in rest if pair and pair[0].x is first.x} != wanted:
        return None
    nodes = [root, minus, plus, *products, *first.nodes, *second.nodes]
    nodes += [node for pair in rest if pair for node in pair[0].nodes]
    return Pattern(first.x, cos, sin, "halves", True, list(dict.fromkeys(nodes)))


def _factors(graph: "Graph", product: "Node") -> "tuple[Part, Node] | None":
    """A part of x, and the table it is multiplied by."""
    left, right = operands(graph, product)
    if not (is_node(left) and is_node(right)):
        return None
    for part, table in ((left, right), (right, left)):
        if found := _part(graph, part):
            return found, table
    return None


def _part(graph: "Graph", node: "Node") -> Part | None:
    """Which half of which tensor, by chunk, split or slice."""
    if graph.op(node) == "getitem":
        source: Any = node.args[0]
        second = bool(node.args[1] == 1)
        if not _is(graph, source, "aten.chunk", "aten.split") or not _along_last(graph, source):
            return None
        given = graph.arguments(source)
        x = given["self"]
        size = graph.shape(x)[-1]
        halves = given.get("chunks") == 2 or given.get("split_size") == size // 2
        return Part(x, "halves", second, [node, source]) if halves and size % 2 == 0 else None
    if not _is(graph, node, "aten.slice") or not _along_last(graph, node):
        return None
    given = graph.arguments(node)
    x = given["self"]
    size = graph.shape(x)[-1]
    start, end, step = given["start"] or 0, given["end"], given["step"]
    end = size if end is None else min(end, size)
    ranges = {(0, size // 2, 1): ("halves", False), (size // 2, size, 1): ("halves", True)}
    ranges |= {(0, size, 2): ("pairs", False), (1, size, 2): ("pairs", True)}
    hit = ranges.get((start, end, step))
    if hit is None or size % 2:
        return None
    nodes = [node]
    while _whole(graph, x):
        nodes.append(x)
        x = graph.arguments(x)["self"]
    return Part(x, *hit, nodes)


def _whole(graph: "Graph", node: "Node") -> bool:
    """A slice that takes everything, as `x[..., a:b]` leaves for the other axes."""
    return graph.op(node) == "aten.slice" and graph.shape(node) == graph.shape(graph.arguments(node)["self"])


def _along_last(graph: "Graph", node: "Node") -> bool:
    shape = (
        graph.shape(node)
        if graph.op(node) not in ("aten.chunk", "aten.split")
        else graph.shape(graph.arguments(node)["self"])
    )
    return graph.arguments(node)["dim"] in (-1, len(shape) - 1)


def _is(graph: "Graph", node: Any, *names: str) -> bool:
    return is_node(node) and graph.op(node) in names


def _fits(graph: "Graph", found: Pattern, root: "Node") -> bool:
    """Shapes and element types that the kernel is written for."""
    shape = graph.shape(root)
    tables = (*shape[:-1], shape[-1] // 2) if found.half_tables else shape
    kinds = {graph.dtype(node) for node in (root, found.x)}
    if shape != graph.shape(found.x) or len(kinds) != 1 or graph.dtype(root) not in FLOATS or len(shape) > 4:
        return False
    return all(
        graph.dtype(table) == graph.dtype(root) and _spreads(graph.shape(table), tables)
        for table in (found.cos, found.sin)
    )


def _spreads(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether `shape` broadcasts to `target` without changing it."""
    behind = target[len(target) - len(shape) :]
    return len(shape) <= len(target) and all(size in (1, wanted) for size, wanted in zip(shape, behind, strict=True))
