"""Attention forward: one kernel with an online softmax, or the keys split over programs for few queries."""

from typing import TYPE_CHECKING, Any

from egg.state.device import Device
from egg.state.evaluation import StaticProfile
from egg.state.problem import Workload
from egg.state.settings import Policy
from egg.state.stage import Group
from egg.tools.expert.attention_match import Pattern, find
from egg.tools.expert.attention_moves import attention_moves
from egg.tools.expert.attention_source import attention_source
from egg.tools.expert.kinds import Kind, Match
from egg.tools.expert.neighbours import around
from egg.tools.expert.region import Graph, Region, in_order
from egg.tools.expert.spec import Move, RegionSpec

if TYPE_CHECKING:
    from torch.fx import Node

FLASH, SPLIT = "flash", "flash_split_kv"
TUNABLE = ("BLOCK_M", "BLOCK_N", "num_warps", "maxnreg")
FEW_PROGRAMS, MANY_PROGRAMS = 128, 1024
"""Blocks of queries that leave multiprocessors of a large GPU idle, and that fill it several times over."""


class Attention:
    """softmax(q @ k^T * scale, masked) @ v, the scores never stored."""

    name = "attention"

    def match(self, node: "Node", graph: Graph) -> Match | None:
        if (known := around(graph, node, find)) is None:
            return None
        root, found = known
        return Match(in_order(graph, found.nodes), (root,), _facts(graph, found))

    def absorbs(self, region: Region, node: "Node", side: str) -> bool:
        return False

    def structures(self, region: Region) -> tuple[str, ...]:
        facts = region.facts
        programs = facts["batches"] * facts["heads"] * -(-facts["queries"] // 64)
        if programs >= MANY_PROGRAMS:
            return (FLASH,)
        return (SPLIT, FLASH) if programs < FEW_PROGRAMS else (FLASH, SPLIT)

    def default(self, region: Region, structure: str, policy: Policy, device: Device) -> RegionSpec:
        facts = region.facts
        tile = _tile(facts, device)
        programs = facts["batches"] * facts["heads"] * -(-facts["queries"] // tile["BLOCK_M"])
        splits = 2 * device.multiprocessors // programs or 2
        most = max(2, facts["keys"] // (4 * tile["BLOCK_N"]))
        mapping: dict[str, Any] = {"grid": "blocks_fastest", "longest_first": bool(facts["causal"])}
        if structure == SPLIT:
            mapping["splits"] = max(2, min(splits, most, 64))
        return RegionSpec(
            name=region.name,
            kind=self.name,
            structure={"name": structure, **_without_tf32x3(facts, device)},
            mapping=mapping,
            tiling={**{key: tile[key] for key in ("BLOCK_M", "BLOCK_N", "num_warps")}, "pieces": pieces(facts["head"])},
            memory={"num_stages": tile["num_stages"], "out_layout": facts["out_layout"]},
            facts=facts,
        )

    def emit(self, region: Region, spec: RegionSpec, policy: Policy) -> str:
        graph, facts = region.graph, region.facts
        found = find(graph, region.anchor_outputs[0])
        if found is None:
            raise ValueError(f"{region.name} is not attention")
        names = [graph.names[node] for node in (found.q, found.k, found.v)]
        if found.key_transposed:
            names[1] += ".transpose(-2, -1)"
        tiling, memory = dict(spec.tiling), dict(spec.memory)
        return attention_source(
            region.name,
            scale=_scale(region, found),
            operands=", ".join(names),
            meta={**{k: tiling[k] for k in TUNABLE if k in tiling}, "num_stages": memory["num_stages"]},
            rank=len(graph.shape(found.q)),
            precision=spec.structure.get("precision") or _precision(facts, policy),
            causal=found.causal,
            mask=found.mode or None,
            mask_name=graph.names[found.mask] if found.mask is not None else "",
            safe=found.safe,
            pieces=tiling["pieces"],
            splits=int(spec.mapping.get("splits", 4)) if spec.structure["name"] == SPLIT else 0,
            grid=spec.mapping["grid"],
            longest_first=spec.mapping["longest_first"],
            out_layout=memory["out_layout"],
            parameters=region.parameters,
        )

    def moves(
        self, spec: RegionSpec, group: Group, profile: StaticProfile | None, device: Device, workload: Workload
    ) -> list[Move]:
        return attention_moves(spec, group, profile, device)


def pieces(head: int) -> int:
    """Two where a power of two above the head would waste a quarter or more: 96 = 64 + 32, 80 = 64 + 16."""
    low = 1 << (head.bit_length() - 1)
    rest = head - low
    return 2 if low >= 16 and rest and low + max(16, 1 << (rest - 1).bit_length()) < 2 * low else 1


def _tile(facts: dict[str, Any], device: Device) -> dict[str, int]:
    """Largest tile that compiles without spills for sm_90; fp32 keeps both halves of every operand in registers."""
    if facts["dtype"] == "float32":
        block_n = 32 if facts["head"] <= 64 else 16
        stages = 3 if device.shared_bytes > 100 << 10 else 2
        return {"BLOCK_M": 64, "BLOCK_N": block_n, "num_warps": 4, "num_stages": stages}
    wide = facts["queries"] > 64
    block_m = 128 if wide else 64
    q_bytes, step_bytes = 2 * block_m * facts["head"], 2 * 2 * 64 * facts["head"]
    # Registers leave room for one block of 8 warps: keys as far ahead as its shared memory takes.
    stages = max(2, min(4 if wide else 3, (device.shared_bytes - 1024 - q_bytes) // step_bytes))
    return {"BLOCK_M": block_m, "BLOCK_N": 64, "num_warps": 8 if wide else 4, "num_stages": stages}


def _precision(facts: dict[str, Any], policy: Policy) -> str | None:
    """ATen's own fp32 attention does not follow the TF32 flag, so TF32 is only for the products spelled out."""
    if facts["dtype"] != "float32":
        return None
    return "tf32" if policy is Policy.TF32 and not facts["safe"] else "tf32x3"


def _without_tf32x3(facts: dict[str, Any], device: Device) -> dict[str, str]:
    """AMD's matrix units take fp32 itself, and Triton has no three passes of TF32 for them."""
    return {"precision": "ieee"} if device.amd and facts["dtype"] == "float32" else {}


def _scale(region: Region, found: "Pattern") -> str:
    """The factor on the scores as an expression of the host function."""
    text = ""
    for sign, node in found.scales:
        if sign == "sdpa":
            given = region.graph.arguments(node)["scale"]
            return (
                f"{region.graph.names[found.q]}.shape[-1] ** -0.5" if given is None else region.argument(node, "scale")
            )
        number = region.argument(node, "other")
        number = f"({number})" if " " in number else number
        text = f"{text} {sign} {number}" if text else number if sign == "*" else f"1.0 / {number}"
    return f"({text})" if " " in text else text or "1.0"


def _facts(graph: Graph, found: "Pattern") -> dict[str, Any]:
    shape = graph.shape(found.q)
    lead = (1,) * (4 - len(shape)) + shape
    batches, heads = (lead[1], lead[0]) if len(shape) == 3 else lead[:2]
    keys = graph.shape(found.v)[-2]
    return {
        "batches": batches,
        "heads": heads,
        "queries": lead[2],
        "keys": keys,
        "head": lead[3],
        "dtype": graph.dtype(found.q),
        "causal": found.causal,
        "mask": found.mode,
        "safe": found.safe,
        "out_layout": "tokens" if _tokens_next(graph, found.output) else "heads",
    }


def _tokens_next(graph: Graph, output: "Node") -> bool:
    """Whether all that happens to the result is to be brought into (batch, token, head, value) order."""

    def brings(user: "Node") -> bool:
        if graph.op(user) != "aten.transpose" or graph.returned(user) or len(graph.shape(output)) != 4:
            return False
        given = graph.arguments(user)
        copies = ("aten.contiguous", "aten.clone", "aten.reshape", "aten._unsafe_view")
        return {given["dim0"] % 4, given["dim1"] % 4} == {1, 2} and all(graph.op(u) in copies for u in user.users)

    return bool(output.users) and not graph.returned(output) and all(brings(user) for user in output.users)


KINDS: tuple[Kind, ...] = (Attention(),)
