"""How far a region of rows reaches: from one reduction through the pointwise work that shares its rows."""

from typing import TYPE_CHECKING

from egg.tools.expert.chain import is_pointwise
from egg.tools.expert.rows.anchors import read_anchor
from egg.tools.expert.rows.space import RESHAPES, Space, survey

if TYPE_CHECKING:
    from torch.fx import Node

    from egg.tools.expert.region import Graph

HEAVY = ("linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "convolution", "conv1d", "conv2d", "conv3d")
"""What follows these is better fused there."""
RESERVED = {"rows", "cols", "lanes", "outers", "span", "splits", "result"}
"""Names that the host function gives to sizes."""


def grow(node: "Node", graph: "Graph") -> "tuple[Node, ...] | None":
    """The region around the reduction at `node`, in graph order.

    It can run at the place of that reduction: all it reads is there by then, and nothing before needs its results.
    """
    anchor = read_anchor(node, graph)
    if anchor is None:
        return None
    order = {each: i for i, each in enumerate(graph.nodes)}
    members = {node, *anchor.outputs}
    space = _space(graph, members, order)
    if space is None:
        return None
    outside: set[Node] = set()
    for later in graph.nodes[order[node] + 1 :]:
        if later in members:
            continue
        more = _joined(later, graph, members, space)
        inputs = [each for n in more for each in n.all_input_nodes if each not in members and each not in more]
        early = not any(each in outside or order.get(each, -1) > order[node] for each in inputs)
        grown = _space(graph, members | more, order) if more and early else None
        if grown:
            members |= more
            space = grown
        elif any(each in members or each in outside for each in later.all_input_nodes):
            outside.add(later)
    for before in _shared(graph, members, space, order, order[node]):
        if _space(graph, members | {before}, order):
            members.add(before)
    if any(graph.names.get(each) in RESERVED for n in members for each in n.all_input_nodes):
        return None
    return tuple(sorted(members, key=order.__getitem__))


def _joined(later: "Node", graph: "Graph", members: "set[Node]", space: Space) -> "set[Node]":
    """What joins with this node: itself, a further reduction with its results, or nothing."""
    uses = any(each in members for each in later.all_input_nodes)
    if uses and (is_pointwise(graph, later) or graph.op(later) in RESHAPES):
        return {later}
    anchor = read_anchor(later, graph)
    if anchor and space.places.get(anchor.source) == space.whole:
        return {later, *anchor.outputs}
    return set()


def _shared(graph: "Graph", members: "set[Node]", space: Space, order: "dict[Node, int]", first: int) -> "list[Node]":
    """Pointwise producers with users elsewhere, such as a residual sum: written here, they need not be read again."""
    inputs = dict.fromkeys(each for node in sorted(members, key=order.__getitem__) for each in node.all_input_nodes)
    found = []
    for node in inputs:
        if node in members or node not in order or not is_pointwise(graph, node):
            continue
        elsewhere = [user for user in node.users if user not in members]
        heavy = any(graph.op(each).removeprefix("aten.") in HEAVY for each in node.all_input_nodes)
        late = all(order.get(user, len(order)) > first for user in elsewhere)
        if space.places.get(node) == space.whole and (elsewhere or graph.returned(node)) and late and not heavy:
            found.append(node)
    return found


def _space(graph: "Graph", members: "set[Node]", order: "dict[Node, int]") -> Space | None:
    return survey(graph, tuple(sorted(members, key=order.__getitem__)))
