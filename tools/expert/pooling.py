"""Two-dimensional max and average pooling, with the pointwise work that follows in the same pass."""

from math import prod
from typing import TYPE_CHECKING, Any

from egg.state.device import Device
from egg.state.evaluation import StaticProfile
from egg.state.problem import Workload
from egg.state.settings import Policy
from egg.state.stage import Group
from egg.tools.expert.broadcast import flat_index, group_axes
from egg.tools.expert.chain import lines
from egg.tools.expert.kinds import Kind, Match, launches_of
from egg.tools.expert.pooling_text import pooling_source
from egg.tools.expert.region import Graph, Region, Value
from egg.tools.expert.spec import Move, RegionSpec

if TYPE_CHECKING:
    from torch.fx import Node

POOLS = ("aten.max_pool2d", "aten.max_pool2d_with_indices", "aten.avg_pool2d")
FLOATS = ("float32", "float16", "bfloat16")
COORDINATES = ("batch", "channel", "line", "column")
SIZES = ("", "channels", "out_height", "out_width")
LARGEST_WINDOW = 64
"""The loop over a window is unrolled."""

BLOCK, WARPS = 512, 4
"""Results a program and its warps, to begin with."""


class Pooling:
    """max_pool2d and avg_pool2d of (batch, channel, height, width), floor mode."""

    name = "pooling"

    def match(self, node: "Node", graph: Graph) -> Match | None:
        op = graph.op(node)
        if op not in POOLS:
            return None
        given = graph.arguments(node)
        source = given["self"]
        if len(graph.shape(source)) != 4 or graph.dtype(source) not in FLOATS:
            return None
        if given["ceil_mode"] or given.get("divisor_override") is not None:
            return None
        kernel = _pair(given["kernel_size"])
        if kernel[0] * kernel[1] > LARGEST_WINDOW:
            return None
        nodes: tuple[Node, ...] = (node,)
        output = node
        if op == "aten.max_pool2d_with_indices":
            users = tuple(node.users)
            if len(users) != 1 or users[0].args[1] != 0 or graph.returned(node):
                return None
            nodes, output = (node, users[0]), users[0]
        elements = prod(graph.shape(output))
        stride = _pair(given["stride"] or given["kernel_size"])
        wide = max(elements, prod(graph.shape(source))) >= 2**31
        facts = {"elements": elements, "wide": wide, "kernel": kernel, "stride": stride, "dtype": graph.dtype(source)}
        return Match(nodes, (output,), facts)

    def absorbs(self, region: Region, node: "Node", side: str) -> bool:
        if side == "prologue":
            return False  # it would be computed once for each window that a value is in
        grown = Region(region.name, self.name, region.graph, region.anchors, region.anchor_outputs, facts=region.facts)
        grown.epilogue = (*region.epilogue, node)
        return len(grown.output_nodes) == 1 and _places(grown) is not None

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
        graph, anchor, pooled = region.graph, region.anchors[0], region.anchor_outputs[0]
        places = _places(region)
        if places is None:
            raise ValueError(f"{region.name}: a tensor does not line up with the pooled ones")

        def load(value: Value) -> str:
            present = places[value.name]
            if not any(present):
                return f"tl.load({value.name}_ptr)"
            where = "offsets" if all(present) else flat_index(present, COORDINATES, SIZES)
            return f"tl.load({value.name}_ptr + {where}, mask=inside, other=0.0)"

        scalars: dict[str, str] = {}
        registers = {pooled: "pooled"}
        after = lines(region, region.epilogue, registers, load, scalars)
        given, small = graph.arguments(anchor), graph.arguments(graph.twin[anchor])
        window = {
            name: _expressions(region, given.get(argument), small.get(argument), default)
            for name, argument, default in (
                ("kernel", "kernel_size", 1),
                ("pad", "padding", 0),
                ("dilation", "dilation", 1),
            )
        }
        stride = "stride" if given["stride"] else "kernel_size"
        tensors = [value.name for value in region.inputs]
        by_channel = any("channel" in line for line in after)
        names = [*(["channels"] if by_channel else []), "out_height", "out_width"]
        return pooling_source(
            region.name,
            dict(spec.tiling),
            **window,
            stride=_expressions(region, given[stride], small[stride], 1),
            source=graph.names[given["self"]],
            largest=graph.op(anchor) != "aten.avg_pool2d",
            count_pad=bool(given.get("count_include_pad", True)),
            by_channel=by_channel,
            wide=bool(spec.facts["wide"]),
            after=after,
            result=registers[region.output_nodes[0]],
            dtype=graph.dtype(region.output_nodes[0]),
            then=", ".join(graph.op(node).removeprefix("aten.") for node in region.epilogue),
            tensors=tensors,
            arguments=", ".join(f"{tensor}_ptr" for tensor in tensors),
            operands=", ".join(tensors),
            sizes=", ".join([*names, *scalars]),
            numbers=", ".join([*names, *scalars.values()]),
            parameters=region.parameters,
        )

    def moves(
        self, spec: RegionSpec, group: Group, profile: StaticProfile | None, device: Device, workload: Workload
    ) -> list[Move]:
        launches = launches_of(profile, spec)
        if group != "tiling" or not launches:
            return []
        main, block, warps = launches[0], spec.tiling.get("BLOCK", BLOCK), spec.tiling.get("num_warps", WARPS)
        found = []
        if main.waves > 8 and main.registers <= 64 and block < 2048:
            why = f"{main.waves:.0f} waves of short programs"
            found.append(
                spec.move("tiling", {"BLOCK": 2 * block, "num_warps": min(8, 2 * warps)}, why, "latency", 0.05)
            )
        if block // (32 * warps) > 1 and main.registers > 64:
            why = f"{main.registers} registers: one result a lane lets more warps wait for memory at once"
            found.append(spec.move("tiling", {"num_warps": 2 * warps}, why, "occupancy", 0.08))
        if block > 32 * warps:
            why = "neighbouring lanes read neighbouring windows: fewer results a lane, more lines shared in L1"
            found.append(spec.move("tiling", {"BLOCK": block // 2}, why, "memory", 0.04))
        return found


def _pair(value: Any) -> list[int]:
    values = [value] if isinstance(value, int) else list(value)
    return values * 2 if len(values) == 1 else values


def _expressions(region: Region, full: Any, small: Any, default: int) -> list[str]:
    """Both numbers of a window's argument as expressions of the host function."""
    if full is None or small is None:
        return [str(default)] * 2
    return [region.number(one, other) for one, other in zip(_pair(full), _pair(small), strict=True)]


def _places(region: Region) -> dict[str, tuple[bool, ...]] | None:
    """For each tensor but the pooled one: which of the result's four axes it runs along."""
    pooled = region.graph.value(region.anchor_outputs[0])
    source = region.graph.arguments(region.anchors[0])["self"]
    others = [region.graph.value(node) for node in region.input_nodes if node is not source]
    tensors = [*others, *region.outputs]
    axes = group_axes(pooled, tensors)
    if axes is None or any(value.shape != pooled.shape for value in region.outputs):
        return None
    found = {}
    for tensor in tensors:
        runs = [False] * 4
        for group, present in zip(axes.groups, axes.present[tensor.name], strict=True):
            for dim in group:
                runs[dim] = present
        found[tensor.name] = tuple(runs)
    return found


KINDS: tuple[Kind, ...] = (Pooling(),)
