"""Rotary position embedding: x * cos + rotate(x) * sin in one pass, each pair of values loaded once."""

from math import prod
from typing import TYPE_CHECKING

from egg.state.device import Device
from egg.state.evaluation import StaticProfile
from egg.state.problem import Workload
from egg.state.settings import Policy
from egg.state.stage import Group
from egg.tools.expert.kinds import Kind, Match, launches_of
from egg.tools.expert.neighbours import around
from egg.tools.expert.region import Graph, Region, in_order
from egg.tools.expert.rope_match import find
from egg.tools.expert.rope_text import rope_source
from egg.tools.expert.spec import Move, RegionSpec

if TYPE_CHECKING:
    from torch.fx import Node

BLOCK, WARPS = 2048, 8
"""Elements a program and its warps, to begin with."""


class Rope:
    """Halves or neighbours rotated against each other, by tables of cosines and sines."""

    name = "rope"

    def match(self, node: "Node", graph: Graph) -> Match | None:
        if (known := around(graph, node, find)) is None:
            return None
        root, found = known
        *lead, size = graph.shape(root)
        facts = {"rows": prod(lead), "size": size, "dtype": graph.dtype(root), "layout": found.layout}
        return Match(in_order(graph, found.nodes), (root,), facts)

    def absorbs(self, region: Region, node: "Node", side: str) -> bool:
        return False

    def structures(self, region: Region) -> tuple[str, ...]:
        return ("fused",)

    def default(self, region: Region, structure: str, policy: Policy, device: Device) -> RegionSpec:
        return RegionSpec(
            name=region.name,
            kind=self.name,
            structure={"name": structure},
            tiling={"BLOCK": BLOCK, "num_warps": WARPS},
            facts=region.facts,
        )

    def emit(self, region: Region, spec: RegionSpec, policy: Policy) -> str:
        found = find(region.graph, region.anchor_outputs[0])
        if found is None:
            raise ValueError(f"{region.name} is not a rotary embedding")
        names = region.graph.names
        meta = {name: spec.tiling[name] for name in ("BLOCK", "num_warps")}
        return rope_source(
            region.name,
            parameters=region.parameters,
            x=names[found.x],
            cos=names[found.cos],
            sin=names[found.sin],
            layout=found.layout,
            half_tables=found.half_tables,
            meta=meta,
        )

    def moves(
        self, spec: RegionSpec, group: Group, profile: StaticProfile | None, device: Device, workload: Workload
    ) -> list[Move]:
        if group != "tiling":
            return []
        found = []
        launches = launches_of(profile, spec)
        block, warps = spec.tiling.get("BLOCK", BLOCK), spec.tiling.get("num_warps", WARPS)
        if launches and launches[0].registers <= 64 and launches[0].waves > 8 and block < 8192:
            why = f"{launches[0].waves:.0f} waves of short programs: more rows, more loads in flight"
            found.append(spec.move("tiling", {"BLOCK": 2 * block}, why, "memory", 0.06))
        if launches and launches[0].occupancy < 0.5 and block > 256:
            why = f"occupancy {launches[0].occupancy:.0%} bounded by {launches[0].limiter}: smaller programs fit"
            found.append(spec.move("tiling", {"BLOCK": block // 2}, why, "occupancy", 0.1))
        if launches and launches[0].waves < 1 and block > 256:
            why = "fewer programs than the GPU holds at once"
            found.append(spec.move("tiling", {"BLOCK": block // 2}, why, "latency", 0.15))
        if warps < 16:
            why = "narrower work a lane keeps more independent loads in flight"
            found.append(spec.move("tiling", {"num_warps": 2 * warps}, why, "memory", 0.03))
        return found


KINDS: tuple[Kind, ...] = (Rope(),)
