"""Cross-entropy against class indices: one pass over the scores, then a sum over the rows."""

from typing import TYPE_CHECKING, Any

from egg.state.device import Device
from egg.state.evaluation import StaticProfile
from egg.state.problem import Workload
from egg.state.settings import Policy
from egg.state.stage import Group
from egg.tools.expert.cross_entropy_moves import cross_entropy_moves
from egg.tools.expert.cross_entropy_text import cross_entropy_source
from egg.tools.expert.kinds import Kind, Match
from egg.tools.expert.spec import Move, RegionSpec

if TYPE_CHECKING:
    from torch.fx import Node

    from egg.tools.expert.region import Graph, Region

ONLINE, SPLIT = "online_rows", "split_classes"
REDUCTIONS = ("none", "mean", "sum")
FLOATS = ("float32", "float16", "bfloat16")
LANES = 4096
"""Scores that a program holds at once: 16 for each of 256 lanes."""


class CrossEntropy:
    """log(sum(exp(scores))) - scores[target], with ignored rows and class weights."""

    name = "cross_entropy"

    def match(self, node: "Node", graph: "Graph") -> Match | None:
        found = _find(graph, node)
        if found is None:
            return None
        nodes, x, given = found
        shape = graph.shape(x)
        usable = len(shape) >= 2 and graph.dtype(x) in FLOATS and graph.dtype(given["target"]) == "int64"
        if not usable or given.get("label_smoothing"):
            return None
        rows = 1
        for size in (shape[0], *shape[2:]):
            rows *= size
        facts = {
            "rows": rows,
            "classes": shape[1],
            "inner": rows // shape[0],
            "dtype": graph.dtype(x),
            "reduction": REDUCTIONS[given["reduction"]],
        }
        return Match(nodes, (node,), facts)

    def absorbs(self, region: "Region", node: "Node", side: str) -> bool:
        return False

    def structures(self, region: "Region") -> tuple[str, ...]:
        facts = region.facts
        return (SPLIT, ONLINE) if facts["rows"] < 264 and facts["classes"] >= 8 * LANES else (ONLINE, SPLIT)

    def default(self, region: "Region", structure: str, policy: Policy, device: Device) -> RegionSpec:
        facts = region.facts
        block_c = min(LANES, max(16, 1 << (facts["classes"] - 1).bit_length()))
        block_r = 1
        while block_r * block_c < LANES and facts["rows"] > block_r * 4 * device.multiprocessors:
            block_r *= 2
        if facts["inner"] > 1:  # neighbouring rows lie side by side in memory, classes do not
            block_r, block_c = 64, min(block_c, 32)
        mapping: dict[str, Any] = {"BLOCK_R": block_r}
        if structure == SPLIT:
            mapping["splits"] = max(2, min(64, 4 * device.multiprocessors // max(facts["rows"], 1)))
        return RegionSpec(
            name=region.name,
            kind=self.name,
            structure={"name": structure},
            mapping=mapping,
            tiling={"BLOCK_C": block_c, "num_warps": 8 if block_r * block_c >= LANES else 4},
            memory={"num_stages": 1},
            facts=facts,
        )

    def emit(self, region: "Region", spec: RegionSpec, policy: Policy) -> str:
        graph = region.graph
        output = region.anchor_outputs[0]
        found = _find(graph, output)
        if found is None:
            raise ValueError(f"{region.name} is not a cross-entropy")
        _, x, given = found
        meta = {"BLOCK_R": spec.mapping["BLOCK_R"], **spec.tiling, "STAGES": spec.memory["num_stages"]}
        return cross_entropy_source(
            region.name,
            x=graph.names[x],
            target=graph.names[given["target"]],
            weight=graph.names[given["weight"]] if given["weight"] is not None else None,
            reduction=REDUCTIONS[given["reduction"]],
            ignore=region.argument(output, "ignore_index"),
            splits=spec.mapping.get("splits", 8) if spec.structure["name"] == SPLIT else 0,
            meta=meta,
            parameters=region.parameters,
        )

    def moves(
        self, spec: RegionSpec, group: Group, profile: StaticProfile | None, device: Device, workload: Workload
    ) -> list[Move]:
        return cross_entropy_moves(spec, group, profile, device)


def _find(graph: "Graph", node: "Node") -> "tuple[tuple[Node, ...], Node, dict[str, Any]] | None":
    """The nodes of a loss that ends in `node`, its scores, and the loss operator's arguments."""
    op = graph.op(node)
    if op == "aten.cross_entropy_loss":
        given = graph.arguments(node)
        return (node,), given["self"], given
    if op not in ("aten.nll_loss_nd", "aten.nll_loss", "aten.nll_loss2d"):
        return None
    given = graph.arguments(node)
    below = given["self"]
    if (
        graph.op(below) not in ("aten.log_softmax", "aten._log_softmax")
        or len(below.users) > 1
        or graph.returned(below)
    ):
        return None
    inner = graph.arguments(below)
    if inner["dim"] % len(graph.shape(below)) != 1 or inner.get("dtype") or inner.get("half_to_float"):
        return None
    return (below, node), inner["self"], given


KINDS: tuple[Kind, ...] = (CrossEntropy(),)
