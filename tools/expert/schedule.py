"""The order of a graph's calls: data, writes to memory that others read, and the random numbers' own sequence."""

import heapq
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from egg.tools.expert.region import Graph

if TYPE_CHECKING:
    from torch.fx import Node


class Order:
    """Who must come before whom, and which nodes may move at all."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.index = {node: i for i, node in enumerate(graph.nodes)}
        self.before: dict[Node, set[Node]] = {
            node: {operand for operand in node.all_input_nodes if operand in self.index} for node in graph.nodes
        }
        self.free = set(graph.nodes)
        """Nodes that a region may take: neither do they write to memory, nor does anyone write to theirs."""
        self._writes()
        self._random()

    def units(self, groups: "Iterable[Sequence[Node]]") -> "list[tuple[Node, ...]] | None":
        """All nodes, the groups as single units, in an order that respects everything; None if there is none."""
        unit_of: dict[Node, int] = {}
        units: list[tuple[Node, ...]] = []
        for group in groups:
            unit_of |= dict.fromkeys(group, len(units))
            units.append(tuple(sorted(group, key=self.index.__getitem__)))
        for node in self.graph.nodes:
            if node not in unit_of:
                unit_of[node] = len(units)
                units.append((node,))
        waiting = [{unit_of[n] for node in unit for n in self.before[node]} - {i} for i, unit in enumerate(units)]
        followers: dict[int, list[int]] = {i: [] for i in range(len(units))}
        for i, needed in enumerate(waiting):
            for other in needed:
                followers[other].append(i)
        ready = [(self.place(unit), i) for i, unit in enumerate(units) if not waiting[i]]
        heapq.heapify(ready)
        found: list[tuple[Node, ...]] = []
        while ready:
            _, i = heapq.heappop(ready)
            found.append(units[i])
            for follower in followers[i]:
                waiting[follower].discard(i)
                if not waiting[follower]:
                    heapq.heappush(ready, (self.place(units[follower]), follower))
        return found if len(found) == len(units) else None

    def possible(self, groups: "Iterable[Sequence[Node]]") -> bool:
        """Whether the groups can be computed one after the other."""
        return self.units(groups) is not None

    def place(self, group: "Sequence[Node]") -> int:
        """Where a group comes if nothing else decides."""
        return max(self.index[node] for node in group)

    def _writes(self) -> None:
        """A write comes after all earlier readers of its memory and before all later ones."""
        from egg.tools.expert.cleanup import mutates, storage

        for writer in self.graph.nodes:
            if not mutates(writer):
                continue
            self.free.discard(writer)
            touched = {storage(n) for n in writer.all_input_nodes} - {None}
            for node in self.graph.nodes:
                if node is writer or not {storage(n) for n in (node, *node.all_input_nodes)} & touched:
                    continue
                if self.index[node] < self.index[writer]:
                    self.before[writer].add(node)
                else:
                    self.before[node].add(writer)
                if storage(node) in touched:
                    self.free.discard(node)

    def _random(self) -> None:
        from egg.tools.expert.cleanup import RANDOM, base_name

        drawing = [node for node in self.graph.nodes if base_name(node) in RANDOM]
        for one, other in zip(drawing, drawing[1:], strict=False):
            self.before[other].add(one)
        self.free -= set(drawing)
