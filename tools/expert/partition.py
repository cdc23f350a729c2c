"""Cuts the graph into regions: kinds take their anchors, pointwise neighbours join them, chains form of the rest."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from egg.tools.expert.chain import is_pointwise, is_trivial
from egg.tools.expert.kinds import Kind, Match
from egg.tools.expert.region import Graph, Region, in_order
from egg.tools.expert.schedule import Order

if TYPE_CHECKING:
    from torch.fx import Node

UNFUSED, GENERIC = "unfused", "generic"
SPECIAL = ("attention", "cross_entropy", "rope", "int8")
MAX_NODES = 64
"""A longer chain would not fit the registers."""


@dataclass
class Partition:
    """Regions in the order in which `forward` computes them; nodes in none of them stay PyTorch."""

    graph: Graph
    regions: tuple[Region, ...]
    order: Order

    @property
    def owner(self) -> "dict[Node, Region]":
        return {node: region for region in self.regions for node in region.nodes}


class Partitioner:
    """Builds one partition."""

    def __init__(self, graph: Graph, kinds: tuple[Kind, ...], *, fuse: bool) -> None:
        self.graph, self.kinds, self.fuse = graph, kinds, fuse
        self.order = Order(graph)
        self.index = {node: i for i, node in enumerate(graph.nodes)}
        self.claimed: dict[Node, Region] = {}
        self.regions: list[tuple[Kind, Region]] = []
        self.free = {node for node in graph.nodes if node in self.order.free and is_pointwise(graph, node)}

    def run(self) -> Partition:
        others = [kind for kind in self.kinds if kind.name != "pointwise"]
        for kind in others:
            for node in self.graph.nodes:
                if node not in self.claimed and node in self.order.free:
                    self._claim(kind, kind.match(node, self.graph))
        if self.fuse:
            for side in ("epilogue", "prologue"):
                for kind, region in self.regions:
                    self._grow(kind, region, side)
        for kind in self.kinds:
            if kind.name == "pointwise":
                self._chains(kind)
        regions = [region for _, region in self.regions]
        regions.sort(key=lambda region: self.order.place(region.nodes))
        for i, region in enumerate(regions):
            region.name = f"r{i}_{self._title(region)}"
        return Partition(self.graph, tuple(regions), self.order)

    def _claim(self, kind: Kind, match: Match | None) -> Region | None:
        """Make a region of a match, unless it takes what is not free."""
        if match is None or any(n in self.claimed or n not in self.order.free for n in match.nodes):
            return None
        nodes, outputs = in_order(self.graph, match.nodes), in_order(self.graph, match.outputs)
        region = Region("", kind.name, self.graph, nodes, outputs, facts=dict(match.facts))
        if set(region.output_nodes) - set(outputs) or not self._acyclic(region):
            return None
        self._own(region)
        self.regions.append((kind, region))
        return region

    def _own(self, region: Region) -> None:
        for node in region.nodes:
            self.claimed[node] = region

    def _chains(self, kind: Kind) -> None:
        """Pointwise regions of what is left; one that computes nothing stays a PyTorch call.

        Without fusion chains stay whole where there are other regions to be apart from; else each node is a kernel.
        """
        apart = any(other.name != "pointwise" for other, _ in self.regions)
        for node in self.graph.nodes:
            if node in self.claimed or node not in self.free or is_trivial(self.graph, node):
                continue
            region = self._claim(kind, kind.match(node, self.graph))
            if region is None:
                continue
            if self.fuse or apart:
                size = 0
                while size != len(region.nodes):
                    size = len(region.nodes)
                    self._grow(kind, region, "epilogue")
                    self._grow(kind, region, "prologue")
            region.anchors = in_order(self.graph, region.nodes)
            region.anchor_outputs, region.prologue, region.epilogue = region.output_nodes, (), ()

    def _grow(self, kind: Kind, region: Region, side: str) -> None:
        """Absorb neighbours while the kind agrees and no cycle arises; keep what leaves as few results as before."""
        results = len(region.output_nodes)
        best = region.epilogue if side == "epilogue" else region.prologue
        for node in self.graph.nodes if side == "epilogue" else reversed(self.graph.nodes):
            if len(region.nodes) >= MAX_NODES or node in self.claimed or node not in self.free:
                continue
            if not self._touches(region, node, side) or not kind.absorbs(region, node, side):
                continue
            grown = in_order(self.graph, (node, *getattr(region, side)))
            before = getattr(region, side)
            setattr(region, side, grown)
            if not self._acyclic(region):
                setattr(region, side, before)
                continue
            self.claimed[node] = region
            if len(region.output_nodes) <= max(results, 1) or kind.name == "pointwise":
                best = grown
        for node in set(getattr(region, side)) - set(best):
            del self.claimed[node]
        setattr(region, side, best)

    def _touches(self, region: Region, node: "Node", side: str) -> bool:
        if side == "epilogue":
            results = {*region.anchor_outputs, *region.epilogue}
            if region.kind == "pointwise":
                results = set(region.nodes)
            return any(operand in results for operand in node.all_input_nodes)
        inside = set(region.nodes)
        return bool(node.users) and not self.graph.returned(node) and all(user in inside for user in node.users)

    def _acyclic(self, region: Region) -> bool:
        regions = [other for _, other in self.regions if other is not region]
        return self.order.possible([*(other.nodes for other in regions), region.nodes])

    def _title(self, region: Region) -> str:
        """The operators' names where there are one or two, else the kind's."""
        names = [self.graph.op(node).rpartition(".")[2].strip("_") for node in region.anchors]
        if len(names) > 1 and region.kind != "pointwise":
            return region.kind
        return "_".join(names) if len(names) <= 2 else region.kind


def partition(graph: Graph, kinds: tuple[Kind, ...], structure: str) -> Partition:
    """The regions for a structure: `unfused` leaves every neighbour its own kernel, all others fuse.

    `generic` builds from matrix products, rows and pointwise chains what a special kind has one kernel for.
    """
    if structure == GENERIC:
        kinds = tuple(kind for kind in kinds if kind.name not in SPECIAL)
    return Partitioner(graph, kinds, fuse=structure != UNFUSED).run()
