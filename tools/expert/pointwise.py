"""The kind `pointwise`: any chain of element by element operators, with broadcasting, in one pass over memory."""

from typing import TYPE_CHECKING

from egg.state.device import Device
from egg.state.evaluation import StaticProfile
from egg.state.problem import Workload
from egg.state.settings import Policy
from egg.state.stage import Group
from egg.tools.expert.broadcast import Axes, group_axes
from egg.tools.expert.chain import convert, in_register, is_pointwise, is_trivial, lines
from egg.tools.expert.kinds import Match
from egg.tools.expert.pointwise_moves import moves
from egg.tools.expert.pointwise_text import write
from egg.tools.expert.region import Graph, Region, Value
from egg.tools.expert.spec import Move, RegionSpec

if TYPE_CHECKING:
    from torch.fx import Node

__all__ = ["KINDS", "Pointwise", "convert", "in_register", "is_pointwise", "is_trivial", "lines", "region_axes"]

FLAT, ROWS, PERSISTENT = "fused", "fused_rowwise", "fused_persistent"
INT32 = 2**31 - 1


def region_axes(region: Region) -> Axes | None:
    """The axes on which all tensors of the region meet; None if one does not broadcast, or results differ in shape."""
    results = region.outputs
    shapes = {(value.shape, value.small_shape) for value in results}
    if len(shapes) != 1:
        return None
    return group_axes(results[0], [*region.inputs, *results], [v.name for v in region.inputs if v.row_strided])


class Pointwise:
    """Claims single nodes; the partition grows the chain, one node at a time, by `absorbs`."""

    name = "pointwise"

    def match(self, node: "Node", graph: Graph) -> Match | None:
        if not is_pointwise(graph, node) or not graph.shape(node):
            return None
        return Match((node,), (node,), {})

    def absorbs(self, region: Region, node: "Node", side: str) -> bool:
        """Whether the chain with `node` still has results of one shape that all its tensors broadcast to."""
        grown = Region(region.name, self.name, region.graph, region.anchors, region.anchor_outputs)
        grown.prologue = (node, *region.prologue) if side == "prologue" else region.prologue
        grown.epilogue = (*region.epilogue, node) if side == "epilogue" else region.epilogue
        return region_axes(grown) is not None

    def structures(self, region: Region) -> tuple[str, ...]:
        axes = region_axes(region)
        if axes is None or len(axes.groups) < 2:
            return FLAT, PERSISTENT
        row = _elements(region.outputs[0], axes.groups[-1])
        return (ROWS, FLAT, PERSISTENT) if row >= 512 else (FLAT, ROWS, PERSISTENT)

    def default(self, region: Region, structure: str, policy: Policy, device: Device) -> RegionSpec:
        result, axes = region.outputs[0], region_axes(region)
        row = _elements(result, axes.groups[-1]) if axes and axes.groups else result.elements
        width = row if structure == ROWS else result.elements
        block = max(128, min(1024, 1 << (width - 1).bit_length()))
        return RegionSpec(
            name=region.name,
            kind=self.name,
            structure={"name": structure},
            mapping={"programs_per_sm": 8 if structure == PERSISTENT else 0},
            tiling={"BLOCK": block, "num_warps": max(1, min(8, block // 128))},
            memory={"keep_broadcast": False, "num_stages": 1},
            facts={
                "elements": result.elements,
                "row": row,
                "item_bytes": max(value.bytes // max(1, value.elements) for value in (*region.inputs, result)),
                "inputs": len(region.inputs),
                "broadcast": any(value.elements < result.elements for value in region.inputs),
                "wide": max(result.elements, *(_span(node) for node in region.input_nodes)) > INT32,
                "sms": device.multiprocessors,
            },
        )

    def emit(self, region: Region, spec: RegionSpec, policy: Policy) -> str:
        axes = region_axes(region)
        if axes is None:
            raise ValueError(f"{region.name}: the tensors do not broadcast")
        return write(region, spec, axes)

    def moves(
        self, spec: RegionSpec, group: Group, profile: StaticProfile | None, device: Device, workload: Workload
    ) -> list[Move]:
        return moves(spec, group, profile, device)


def _span(node: "Node") -> int:
    """Elements from a tensor's first to its last in memory."""
    tensor = node.meta["val"]
    return 1 + sum(int((size - 1) * stride) for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


def _elements(value: Value, dims: tuple[int, ...]) -> int:
    total = 1
    for dim in dims:
        total *= value.shape[dim]
    return total


KINDS = (Pointwise(),)
