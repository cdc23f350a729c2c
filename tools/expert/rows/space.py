"""How the tensors of a region lie in one iteration space: the dimensions of what is reduced.

A *place* says, for each dimension of a tensor, which axes of the space it runs along; none where its size is one.
"""

from typing import TYPE_CHECKING, Any

from egg.tools.expert.rows.anchors import GROUPED, Anchor, read_anchor

if TYPE_CHECKING:
    from torch.fx import Node

    from egg.tools.expert.region import Graph

Place = tuple[tuple[int, ...], ...]
RESHAPES = ("aten.unsqueeze", "aten.squeeze")


class Space:
    """The dimensions of the anchors' source, each kept or reduced, and the place of every tensor met so far."""

    def __init__(self, graph: "Graph", anchor: Anchor) -> None:
        self.graph = graph
        shape, small = self._shapes(anchor.source)
        if anchor.kind in GROUPED:
            groups = self._channel_groups(anchor)
            self.sizes = [(shape[0], small[0]), groups, (shape[1] // groups[0], small[1] // groups[1])]
            self.sizes += list(zip(shape[2:], small[2:], strict=True))
            self.reduced = frozenset(range(2, len(self.sizes)))
            self.grouped = True
        else:
            self.sizes = list(zip(shape, small, strict=True))
            self.reduced = frozenset(anchor.dims)
            self.grouped = False
        self.places: dict[Node, Place] = {anchor.source: self.whole}

    @property
    def whole(self) -> Place:
        """The place of a tensor that runs along every axis."""
        axes = range(len(self.sizes))
        parts = [(0,), (1, 2), *((axis,) for axis in axes[3:])] if self.grouped else [(axis,) for axis in axes]
        return tuple(tuple(axis for axis in part if self.sizes[axis] != (1, 1)) for part in parts)

    @property
    def trivial(self) -> bool:
        """Whether every reduced axis has one element: nothing to reduce."""
        return all(self.sizes[axis] == (1, 1) for axis in self.reduced)

    def add_anchor(self, anchor: Anchor) -> bool:
        """Place an anchor's results and operands; False if it reduces something else."""
        if self.places.get(anchor.source) != self.whole:
            return False
        if anchor.kind in GROUPED:
            if not self.grouped or self._channel_groups(anchor) != self.sizes[1]:
                return False
        elif self.grouped or frozenset(anchor.dims) != self.reduced:
            return False
        if anchor.maps:
            rows = self.whole
        elif anchor.keepdim:
            rows = tuple(() if dim in self.reduced else axes for dim, axes in enumerate(self.whole))
        else:
            rows = tuple(axes for dim, axes in enumerate(self.whole) if dim not in self.reduced)
        for output in anchor.outputs:
            self.places[output] = rows
        operands: list[Any] = [self.graph.arguments(anchor.node).get(name) for name in ("weight", "bias")]
        normal = [place for i, place in enumerate(self.whole) if i in (anchor.dims if not self.grouped else (1,))]
        return all(self._agrees(node, tuple(normal)) for node in operands if hasattr(node, "op"))

    def add_point(self, node: "Node") -> bool:
        """Place a pointwise node, and operands not met so far by broadcasting; False if they do not fit."""
        if self.graph.op(node) in RESHAPES:
            return self._reshape(node)
        operands = list(node.all_input_nodes)
        rank = len(self.graph.shape(node))
        place: list[tuple[int, ...]] = list(self.places.get(node, ((),) * rank))
        for operand in operands:
            if known := self.places.get(operand):
                for dim, axes in enumerate(known, start=rank - len(known)):
                    if axes and place[dim] not in ((), axes):
                        return False
                    place[dim] = axes or place[dim]
        if len(self.whole) == rank:
            full = list(self.whole)
            for dim in range(rank):
                if not place[dim] and self._sizes(node)[dim] == self._extent(full[dim]) != (1, 1):
                    place[dim] = full[dim]
        if not self._agrees(node, tuple(place)):
            return False
        return all(self._broadcasts(operand, place) for operand in operands)

    def _broadcasts(self, operand: "Node", place: list[tuple[int, ...]]) -> bool:
        """Place an operand under the dimensions of the node that uses it."""
        sizes = self._sizes(operand)
        under = place[len(place) - len(sizes) :]
        found = tuple(
            () if size == (1, 1) and self._extent(axes) != (1, 1) else axes
            for size, axes in zip(sizes, under, strict=True)
        )
        return self._agrees(operand, found)

    def _reshape(self, node: "Node") -> bool:
        place = self.places.get(node.all_input_nodes[0])
        if place is None:
            return False
        sizes = self._sizes(node)
        runs = [axes for axes in place if axes]
        found: list[tuple[int, ...]] = []
        for size in sizes:
            found.append(() if size == (1, 1) or not runs else runs.pop(0))
        return not runs and self._agrees(node, tuple(found))

    def _agrees(self, node: "Node", place: Place) -> bool:
        """Record a place, if the sizes fit it and it does not contradict an earlier one."""
        sizes = self._sizes(node)
        if len(sizes) != len(place) or any(s != self._extent(axes) for s, axes in zip(sizes, place, strict=True)):
            return False
        axes = [axis for part in place for axis in part]
        if axes != sorted(set(axes)):
            return False
        return self.places.setdefault(node, place) == place

    def _channel_groups(self, anchor: Anchor) -> tuple[int, int]:
        """Number of groups that share a sample's channels, at either size."""
        if anchor.kind == "instance_norm":
            full, small = self._shapes(anchor.source)
            return full[1], small[1]
        groups = int(self.graph.arguments(anchor.node)["num_groups"])
        return groups, groups

    def _extent(self, axes: tuple[int, ...]) -> tuple[int, int]:
        full, small = 1, 1
        for axis in axes:
            full, small = full * self.sizes[axis][0], small * self.sizes[axis][1]
        return full, small

    def _sizes(self, node: "Node") -> list[tuple[int, int]]:
        return list(zip(*self._shapes(node), strict=True))

    def _shapes(self, node: "Node") -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.graph.shape(node), self.graph.shape(self.graph.twin[node])


def survey(graph: "Graph", nodes: "tuple[Node, ...]") -> Space | None:
    """The space of a region, with every tensor of it placed; None if they do not share one."""
    anchors = {node: anchor for node in nodes if (anchor := read_anchor(node, graph))}
    if not anchors:
        return None
    first = next(iter(anchors.values()))
    space = Space(graph, first)
    where = nodes.index(first.node)
    results = {output for anchor in anchors.values() for output in anchor.outputs}
    fits = all(space.add_point(node) for node in reversed(nodes[:where]))
    for node in nodes[where:]:
        if anchor := anchors.get(node):
            fits = fits and space.add_anchor(anchor)
        elif node not in results:
            fits = fits and space.add_point(node)
    return space if fits and not space.trivial else None
