"""Small questions about a captured graph that the matching of larger patterns keeps asking."""

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.fx import Node

    from egg.tools.expert.region import Graph


class Pattern(Protocol):
    """Some nodes that compute one thing together."""

    @property
    def nodes(self) -> "list[Node]": ...


Found = TypeVar("Found", bound=Pattern)


def ahead(node: "Node", depth: int) -> "list[Node]":
    """The node and what can be reached from it over at most `depth` users, nearest first."""
    found = {node: None}
    front = [node]
    for _ in range(depth):
        front = [user for near in front for user in near.users if user not in found]
        found.update(dict.fromkeys(front))
    return list(found)


def around(
    graph: "Graph", node: "Node", find: "Callable[[Graph, Node], Found | None]", depth: int = 8
) -> "tuple[Node, Found] | None":
    """The pattern that `node` is a part of, and the node it ends in; `find` looks for one that ends in a given node."""
    for root in ahead(node, depth):
        found = find(graph, root)
        if found and node in found.nodes:
            return root, found
    return None


def closed(graph: "Graph", nodes: "list[Node]", output: "Node") -> bool:
    """Whether nothing but `output` is seen from outside the nodes."""
    inside = set(nodes)
    return all(
        node is output or (not graph.returned(node) and all(user in inside for user in node.users)) for node in nodes
    )


def is_node(value: Any) -> bool:
    """Whether an argument is a tensor of the graph rather than a plain value."""
    return hasattr(value, "all_input_nodes")


def operands(graph: "Graph", node: "Node") -> tuple[Any, Any]:
    """The two sides of a binary ATen operator."""
    arguments = graph.arguments(node)
    return arguments["self"], arguments["other"]
