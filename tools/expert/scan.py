"""Running sums along one axis, with pointwise work before and after in the same pass."""

from typing import TYPE_CHECKING, Any

from egg.state.device import Device
from egg.state.evaluation import StaticProfile
from egg.state.problem import Workload
from egg.state.settings import Policy
from egg.state.stage import Group
from egg.tools.expert.broadcast import flat_index, group_axes
from egg.tools.expert.chain import lines
from egg.tools.expert.kinds import Kind, Match
from egg.tools.expert.region import Graph, Region, Value
from egg.tools.expert.scan_moves import CHUNKS, ROWS, scan_moves
from egg.tools.expert.scan_text import scan_source
from egg.tools.expert.spec import Move, RegionSpec

if TYPE_CHECKING:
    from torch.fx import Node

FLOATS = ("float32", "float16", "bfloat16")
FEW_ROWS = 528
"""Fewer rows than this leave a large GPU's multiprocessors without enough programs."""


class Scan:
    """cumsum of floating-point tensors."""

    name = "scan"

    def match(self, node: "Node", graph: Graph) -> Match | None:
        if graph.op(node) != "aten.cumsum" or graph.arguments(node)["dtype"] is not None:
            return None
        shape = graph.shape(node)
        if not shape or graph.dtype(node) not in FLOATS or graph.dtype(graph.arguments(node)["self"]) not in FLOATS:
            return None
        dim = graph.arguments(node)["dim"] % len(shape)
        outer = inner = 1
        for size in shape[:dim]:
            outer *= size
        for size in shape[dim + 1 :]:
            inner *= size
        return Match((node,), (node,), {"dim": dim, "outer": outer, "length": shape[dim], "inner": inner})

    def absorbs(self, region: Region, node: "Node", side: str) -> bool:
        grown = Region(region.name, self.name, region.graph, region.anchors, region.anchor_outputs, facts=region.facts)
        grown.prologue = (node, *region.prologue) if side == "prologue" else region.prologue
        grown.epilogue = (*region.epilogue, node) if side == "epilogue" else region.epilogue
        return len(grown.output_nodes) == 1 and _places(grown) is not None

    def structures(self, region: Region) -> tuple[str, ...]:
        facts = region.facts
        if facts["inner"] > 1 or facts["length"] < 4096:
            return (ROWS,)
        return (CHUNKS, ROWS) if facts["outer"] < FEW_ROWS else (ROWS, CHUNKS)

    def default(self, region: Region, structure: str, policy: Policy, device: Device) -> RegionSpec:
        facts = region.facts
        mapping: dict[str, Any] = {}
        if facts["inner"] > 1:
            tiling = {"BLOCK": 32, "LANES": 64, "num_warps": 4}
        else:
            block = min(2048, max(16, 1 << (facts["length"] - 1).bit_length()))
            tiling = {"BLOCK": block, "num_warps": max(1, min(8, block // 256))}
        if structure == CHUNKS:
            most = max(2, facts["length"] // tiling["BLOCK"])
            mapping["chunks"] = min(most, max(2, min(64, 8 * device.multiprocessors // facts["outer"])))
        return RegionSpec(
            name=region.name,
            kind=self.name,
            structure={"name": structure},
            mapping=mapping,
            tiling=tiling,
            memory={"num_stages": 1},
            facts=facts,
        )

    def emit(self, region: Region, spec: RegionSpec, policy: Policy) -> str:
        dim, lanes = spec.facts["dim"], spec.facts["inner"] > 1
        places = _places(region)
        if places is None:
            raise ValueError(f"{region.name}: a tensor does not line up with the axis summed along")
        coordinates = ("outer", "index", "lane") if lanes else ("outer", "index")
        sizes = ("", "length", "inner") if lanes else ("", "length")

        def load(value: Value) -> str:
            present = places[value.name][: len(sizes)]
            guard = ", mask=inside, other=0.0" if any(present[1:]) else ""
            return f"tl.load({value.name}_ptr + {_offset(present, coordinates, sizes)}{guard})"

        scalars: dict[str, str] = {}
        anchor, output = region.anchors[0], region.output_nodes[0]
        source = region.graph.arguments(anchor)["self"]
        registers: dict[Node, str] = {}
        before = lines(region, region.prologue, registers, load, scalars)
        if source not in registers:
            before.append(f"value = {load(region.graph.value(source))}.to(tl.float32)")
            registers[source] = "value"
        value = registers[source]
        registers[anchor] = "running"
        after = lines(region, region.epilogue, registers, load, scalars)
        shape = region.graph.shape(anchor)
        tensors = [v.name for v in region.inputs]
        names = ["length", *(["inner"] if lanes else []), *scalars]
        numbers = ["length", *(["inner"] if lanes else []), *scalars.values()]
        return scan_source(
            region.name,
            {**spec.tiling, "STAGES": spec.memory["num_stages"]},
            chunks=spec.mapping.get("chunks", 8) if spec.structure["name"] == CHUNKS and not lanes else 0,
            lanes=lanes,
            dim=dim,
            before=before,
            after=after,
            value=value,
            result=registers[output],
            whole=_offset((True,) * len(sizes), coordinates, sizes),
            shape=_shape(region, anchor),
            inner=" * ".join(f"shape[{i}]" for i in range(dim + 1, len(shape))),
            dtype=region.graph.dtype(output),
            tensors=tensors,
            arguments=", ".join(f"{tensor}_ptr" for tensor in tensors),
            operands=", ".join(tensors),
            sizes=", ".join(names),
            numbers=", ".join(numbers),
            parameters=region.parameters,
        )

    def moves(
        self, spec: RegionSpec, group: Group, profile: StaticProfile | None, device: Device, workload: Workload
    ) -> list[Move]:
        return scan_moves(spec, group, profile, device)


def _places(region: Region) -> dict[str, tuple[bool, bool, bool]] | None:
    """For each tensor: whether it runs over the axes before, along, and after the one summed along."""
    anchor = region.anchors[0]
    result = region.graph.value(anchor)
    dim, rank = region.facts["dim"], len(result.shape)
    tensors = [*region.inputs, *region.outputs]
    axes = group_axes(result, tensors)
    if axes is None or any(value.shape != result.shape for value in region.outputs):
        return None
    found = {}
    for tensor in tensors:
        runs = dict.fromkeys(range(rank), False)
        for group, present in zip(axes.groups, axes.present[tensor.name], strict=True):
            runs.update(dict.fromkeys(group, present))
        spans = [[runs[i] for i in part] for part in (range(dim), (dim,), range(dim + 1, rank))]
        if any(any(span) and not all(span) for span in spans):
            return None
        found[tensor.name] = (any(spans[0]), any(spans[1]), any(spans[2]))
    return found


def _offset(present: tuple[bool, ...], coordinates: tuple[str, ...], sizes: tuple[str, ...]) -> str:
    return flat_index(present, coordinates, sizes).replace("(outer)", "outer").replace("(index)", "index")


def _shape(region: Region, anchor: "Node") -> str:
    """The result's shape in the host function."""
    wanted = region.graph.value(anchor)
    for value in region.inputs:
        if (value.shape, value.small_shape) == (wanted.shape, wanted.small_shape):
            return f"{value.name}.shape"
    return f"({', '.join(region.size(anchor, dim) for dim in range(len(wanted.shape)))},)"


KINDS: tuple[Kind, ...] = (Scan(),)
