"""The kinds of region that reduce rows; they differ in name and in what they claim, not in how they are written."""

from math import prod
from typing import TYPE_CHECKING

from egg.state.device import Device
from egg.state.evaluation import StaticProfile
from egg.state.problem import Workload
from egg.state.settings import Policy
from egg.state.stage import Group
from egg.tools.expert.chain import is_pointwise
from egg.tools.expert.kinds import Match
from egg.tools.expert.region import Graph, Region, in_order
from egg.tools.expert.rows import looped, split, whole
from egg.tools.expert.rows.anchors import GROUPED, read_anchor
from egg.tools.expert.rows.decide import decisions, structures
from egg.tools.expert.rows.grow import grow
from egg.tools.expert.rows.lowering import Lowering
from egg.tools.expert.rows.moves import moves
from egg.tools.expert.rows.space import survey
from egg.tools.expert.rows.tile import Form, Tile
from egg.tools.expert.spec import Move, RegionSpec, Values
from egg.tools.expert.template import meta_table

if TYPE_CHECKING:
    from torch.fx import Node

NORMS = ("layer_norm", "rms_norm", *GROUPED)
EXPONENTIALS = ("softmax", "log_softmax")


class Rows:
    """One of `softmax`, `normalisation`, `reduction`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def match(self, node: "Node", graph: Graph) -> Match | None:
        members = grow(node, graph)
        if members is None or self._kind(members, graph) != self.name:
            return None
        inside = set(members)
        outputs = [n for n in members if graph.returned(n) or any(user not in inside for user in n.users)]
        return Match(members, tuple(outputs), {})

    def absorbs(self, region: Region, node: "Node", side: str) -> bool:
        """Whether the region with `node` still shares one set of rows."""
        if not is_pointwise(region.graph, node):
            return False
        return survey(region.graph, in_order(region.graph, {*region.nodes, node})) is not None

    def structures(self, region: Region) -> tuple[str, ...]:
        return structures(_facts(region))

    def default(self, region: Region, structure: str, policy: Policy, device: Device) -> RegionSpec:
        facts = _facts(region) | {"sms": device.multiprocessors}
        return RegionSpec(name=region.name, kind=self.name, facts=facts, **decisions(structure, facts, device))

    def emit(self, region: Region, spec: RegionSpec, policy: Policy) -> str:
        structure = spec.structure["name"]
        lowering = Lowering(region, merged=structure in ("online", "split"))
        tile = Tile(lowering.program, _form(spec))
        host = lowering.host(_title(region))
        if structure == "one_pass":
            source = whole.write(tile, host, spec.memory, tile.form == "rows" and bool(spec.mapping.get("persistent")))
        else:
            source = (split if structure == "split" else looped).write(tile, host, spec.memory)
        return meta_table(region.name, _tunables(spec)) + "\n\n" + source

    def moves(
        self, spec: RegionSpec, group: Group, profile: StaticProfile | None, device: Device, workload: Workload
    ) -> list[Move]:
        return moves(spec, group, profile, device)

    def _kind(self, members: "tuple[Node, ...]", graph: Graph) -> str:
        kinds = {anchor.kind for node in members if (anchor := read_anchor(node, graph))}
        if kinds & set(EXPONENTIALS):
            return "softmax"
        space = survey(graph, members)
        if kinds & set(NORMS) or (space and any(space.places[n] == space.whole for n in members[1:])):
            return "normalisation"
        return "reduction"


def _facts(region: Region) -> Values:
    """Full sizes, and what the rules for changing a spec ask about."""
    merged, plain = Lowering(region, merged=True).program, Lowering(region, merged=False).program
    space = survey(region.graph, region.nodes)
    assert space is not None, "Lowering has surveyed it already"
    sizes = [size for size, _ in space.sizes]
    last = max(axis for axis, size in enumerate(space.sizes) if size != (1, 1))
    columns = last not in space.reduced
    kept = [axis for axis in range(len(sizes)) if axis not in space.reduced and not (columns and axis == last)]
    full = [v for v, n in zip(region.inputs, region.input_nodes, strict=True) if space.places[n] == space.whole]
    return {
        "form": "columns" if columns else "rows",
        "rows": prod(sizes[axis] for axis in kept),
        "cols": prod(sizes[axis] for axis in space.reduced),
        "lanes": sizes[last] if columns else 1,
        "maps": bool(plain.full_results),
        "merges": merged.depth < plain.depth,
        "readings": merged.depth + bool(plain.full_results),
        "inputs": len(full),
        "item_bytes": max((v.bytes // max(1, v.elements) for v in full), default=4),
        "shared": any(all(merged.axes[a].reduced for a in o.axes) for o in merged.operands if o.axes),
        "sms": 132,
    }


def _form(spec: RegionSpec) -> Form:
    if spec.facts["form"] == "columns":
        return "columns"
    single = spec.mapping.get("ROWS", 1) == 1 and not spec.mapping.get("persistent")
    return "row" if single or spec.facts["rows"] == 1 or spec.structure["name"] == "split" else "rows"


def _tunables(spec: RegionSpec) -> Values:
    """What the META table shows: constants of the kernels and options of their launches."""
    form, structure = _form(spec), spec.structure["name"]
    values: Values = {name: spec.tiling[name] for name in ("BLOCK", "LANES") if name in spec.tiling}
    if structure == "one_pass":
        values.pop("BLOCK", None)
    if form == "rows":
        values["ROWS"] = spec.mapping["ROWS"]
    if form == "rows" and structure == "one_pass" and spec.mapping.get("persistent"):
        values["PROGRAMS"] = spec.mapping.get("programs_per_sm", 2) * spec.facts["sms"]
    if structure == "split":
        values["SPLITS"] = spec.mapping["SPLITS"]
    elif spec.memory.get("num_stages", 1) > 1 and ("PROGRAMS" in values or structure != "one_pass"):
        values["STAGES"] = spec.memory["num_stages"]
    return values | {"num_warps": spec.tiling["num_warps"]}


def _title(region: Region) -> str:
    names = [region.graph.op(node).removeprefix("aten.") for node in region.nodes]
    return ", ".join(dict.fromkeys(name for name in names if name != "getitem")) + "."


KINDS = (Rows("normalisation"), Rows("softmax"), Rows("reduction"))
"""Rows brought to a common scale (LayerNorm, RMSNorm, GroupNorm, or spelled out); softmax and log-softmax; one value
for each row, such as a sum, a mean, a maximum or a norm."""
