"""What a matrix product decides first, and what it would change: pure rules, no PyTorch."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egg.state.evaluation import Launch, StaticProfile
from egg.state.settings import Policy
from egg.state.stage import GROUPS
from egg.tools.device import detect_device
from egg.tools.expert.gemm_decide import decide, likely_structures
from egg.tools.expert.gemm_epilogue import place
from egg.tools.expert.gemm_moves import moves
from egg.tools.expert.gemm_operands import einsum_says
from egg.tools.expert.gemm_plan import Tile, shared_bytes
from egg.tools.expert.spec import RegionSpec
from tests.tools.expert.problems import DEVICE

SIZE = st.integers(1, 20000)
STRUCTURES = ("tiled", "split_k", "scaled_fp16")
SMALL_GPU = detect_device("sm_86").model_copy(update={"present": False})


def facts(m: int, n: int, k: int, *, batch: int = 1, dtype: str = "float32", along_k: bool = True) -> dict[str, Any]:
    item = 4 if dtype == "float32" else 2
    sizes = {"batch": batch, "m": m, "n": n, "k": k, "item_bytes": item}
    return {**sizes, "dtype": dtype, "batched": batch > 1, "b_along_k": along_k, "int8": False}


def region(known: dict[str, Any], structure: str, policy: Policy = Policy.STOCK) -> RegionSpec:
    return RegionSpec(name="r0_mm", kind="gemm", facts=known, **decide(known, structure, policy, DEVICE))


def profile(**changes: Any) -> StaticProfile:
    launch = {
        "kernel": "r0_mm_product",
        "grid": (64,),
        "warps": 8,
        "stages": 3,
        "registers": 200,
        "spills": 0,
        "shared_bytes": 98304,
        "occupancy": 0.12,
        "limiter": "registers",
        "waves": 0.5,
        "bytes": 1 << 20,
        "tensor_core": "wgmma",
        "estimate_ms": 1.0,
    }
    launches = (Launch(**(launch | changes)),)
    return StaticProfile(target="sm_90", launches=launches, estimate_ms=1.0)


@given(m=SIZE, n=SIZE, k=SIZE, structure=st.sampled_from(STRUCTURES), small=st.booleans())
def test_any_size_has_decisions_that_fit(m: int, n: int, k: int, structure: str, small: bool) -> None:
    device = SMALL_GPU if small else DEVICE
    chosen = decide(facts(m, n, k), structure, Policy.STOCK, device)
    tile = Tile.of(chosen["tiling"], chosen["memory"])
    assert min(tile.m, tile.n, tile.k) >= 16
    assert shared_bytes(chosen["structure"]["method"], tile) <= device.shared_bytes


def test_structures_follow_the_shape() -> None:
    assert likely_structures(facts(4096, 4096, 4096), DEVICE)[0] == "scaled_fp16"
    assert likely_structures(facts(256, 256, 500_000), DEVICE)[0] == "split_k"
    assert likely_structures(facts(512, 512, 128), DEVICE)[0] == "tiled"
    assert "scaled_fp16" not in likely_structures(facts(4096, 4096, 4096, dtype="float16"), DEVICE)


@pytest.mark.parametrize("structure", ["tiled", "scaled_fp16"])
def test_ieee_accuracy_unless_the_policy_is_tf32(structure: str) -> None:
    methods = {
        policy: decide(facts(512, 512, 512), structure, policy, DEVICE)["structure"]["method"] for policy in Policy
    }
    assert methods[Policy.STOCK] == methods[Policy.IEEE]
    assert methods[Policy.STOCK] in ("tf32x3", "fp16x3")
    assert methods[Policy.TF32] in ("tf32", "fp16x1")


@given(m=SIZE, n=SIZE, k=SIZE, structure=st.sampled_from(STRUCTURES), group=st.sampled_from(GROUPS))
def test_a_move_changes_something_in_its_group(m: int, n: int, k: int, structure: str, group: Any) -> None:
    spec = region(facts(m, n, k), structure)
    found = moves(spec, group, profile(), DEVICE)
    assert [move.expected_gain for move in found] == sorted((move.expected_gain for move in found), reverse=True)
    for move in found:
        changed = spec.edited(move.edits["r0_mm"])
        assert move.group == group
        assert changed.group(group) != spec.group(group)
        assert group == "structure" or set(move.edits["r0_mm"]) == {group}
        tile = Tile.of(changed.tiling, changed.memory)
        assert shared_bytes(changed.structure["method"], tile) <= DEVICE.shared_bytes


def test_spills_come_first() -> None:
    found = moves(region(facts(4096, 4096, 4096), "tiled"), "tiling", profile(spills=512), DEVICE)
    assert found[0].bottleneck == "spills"


def test_a_weight_in_the_wrong_order_is_copied() -> None:
    spec = region(facts(200, 4096, 4096, along_k=False), "tiled")
    found = moves(spec, "memory", profile(tensor_core="mma"), DEVICE)
    assert found[0].edits == {"r0_mm": {"memory": {"b_order": "k_contiguous"}}}


def test_better_structure_is_proposed_whole() -> None:
    move = moves(region(facts(4096, 4096, 4096), "tiled"), "structure", profile(), DEVICE)[0]
    assert move.edits["r0_mm"]["structure"] == {"name": "scaled_fp16", "method": "fp16x3"}
    assert set(move.edits["r0_mm"]) == set(GROUPS)


def test_einsum_equations() -> None:
    assert einsum_says("bijl,lk->bijk") == einsum_says("ij, jk -> ik") == einsum_says("bij,bjk->bik") == "plain"
    assert einsum_says("bijl,kl->bijk") == "transposed"
    for other in ("bij,bkj->bik", "ij,jk->ki", "ij,jk", "ii,ij->ij", "ij,jk,kl->il", "...j,jk->...k", "bij,cjk->bik"):
        assert einsum_says(other) is None


def test_where_a_tensor_lies_over_the_output() -> None:
    output = (4, 6, 8)
    assert place((), output) == place((1, 1), output) == "scalar"
    assert place((8,), output) == place((1, 1, 8), output) == "columns"
    assert place(output, output) == "tile"
    assert place((6, 8), output) == "repeated_tile"
    assert place((4, 6, 1), output) == "rows"
    assert place((6, 1), output) == "repeated_rows"
    assert place((4, 1, 8), output) is None
