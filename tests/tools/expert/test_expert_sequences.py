"""Attention, rotary embeddings, cross-entropy, running sums, pooling: found, written, and right in the interpreter."""

from pathlib import Path

import pytest

from egg.state.evaluation import Launch, StaticProfile
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.expert import moves
from egg.tools.store import Store
from egg.tools.workload import analyse
from tests.tools.expert import sequence_problems as problems
from tests.tools.expert.problems import DEVICE
from tests.tools.expert.writing import error, written

QUICK = [
    (problems.CAUSAL, "attention", "flash"),
    (problems.GPT, "attention", "flash"),
    (problems.ROTARY, "rope", "fused"),
    (problems.LOSS, "cross_entropy", "online_rows"),
    (problems.RUNNING, "scan", "scan_chunks"),
    (problems.POOLED, "pooling", "fused"),
]
MORE = [
    (problems.CAUSAL, "attention", "flash_split_kv"),
    (problems.HEAD_96, "attention", "flash"),
    (problems.HEAD_96, "attention", "flash_split_kv"),
    (problems.GPT, "attention", "flash_split_kv"),
    (problems.TRIANGLE, "attention", "flash"),
    (problems.MASKED, "attention", "flash"),
    (problems.BIASED, "attention", "flash_split_kv"),
    (problems.ROTARY_PAIRS, "rope", "fused"),
    (problems.LOSS, "cross_entropy", "split_classes"),
    (problems.LOSS_PIXELS, "cross_entropy", "online_rows"),
    (problems.NLL, "cross_entropy", "split_classes"),
    (problems.RUNNING, "scan", "scan_rows"),
    (problems.RUNNING_MIDDLE, "scan", "scan_rows"),
    (problems.POOLED_MEAN, "pooling", "fused"),
]
CASES = [pytest.param(*case, id=f"{case[0].name}-{case[2]}") for case in QUICK]
CASES += [pytest.param(*case, id=f"{case[0].name}-{case[2]}", marks=pytest.mark.slow) for case in MORE]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.mark.parametrize(("problem", "kind", "structure"), CASES)
def test_right_in_the_interpreter(problem: Problem, kind: str, structure: str, store: Store) -> None:
    skeleton = written(problem, store, structure=structure)
    found = [region for region in skeleton.spec.regions if region.kind == kind]
    assert [region.structure["name"] for region in found] == [structure], skeleton.torch_regions
    assert error(problem, skeleton) < (1e-3 if problem is problems.HEAD_96 else 2e-6)


def test_causal_mask_built_on_the_spot_costs_no_mask(store: Store) -> None:
    source = written(problems.TRIANGLE, store, structure="flash").source
    assert "mask_ptr" not in source
    assert "triu" not in source


def test_buffer_mask_is_read_only_where_it_changes_scores(store: Store) -> None:
    assert "extent_kernel" in written(problems.GPT, store, structure="flash").source


def test_structures_are_offered_to_seeds(store: Store) -> None:
    assert {"flash", "flash_split_kv"} <= set(analyse(problems.CAUSAL, Policy.STOCK, store).structures)


def profile(kernel: str, **facts: object) -> StaticProfile:
    values = {"registers": 255, "spills": 0, "shared_bytes": 64 << 10, "occupancy": 0.12, "limiter": "registers"}
    launch = Launch.model_validate(
        {"kernel": kernel, "grid": (64,), "warps": 4, "stages": 2, "waves": 2.0, "bytes": 1 << 20, "estimate_ms": 0.1}
        | values
        | facts
    )
    return StaticProfile(target="sm_90", launches=(launch,), estimate_ms=0.1)


def test_spills_ask_for_a_smaller_tile(store: Store) -> None:
    spec = written(problems.CAUSAL, store, structure="flash").spec
    region = spec.regions[0]
    workload = analyse(problems.CAUSAL, Policy.STOCK, store)
    best = moves(spec, "tiling", profile(f"{region.name}_kernel", spills=64), DEVICE, workload)[0]
    assert best.bottleneck == "spills"
    assert best.edits[region.name]["tiling"]["BLOCK_N"] == region.tiling["BLOCK_N"] // 2


@pytest.mark.slow
def test_moved_kernels_stay_right(store: Store) -> None:
    """Every first move of every group, applied, still computes the same."""
    for problem, structure in ((problems.CAUSAL, "flash_split_kv"), (problems.LOSS, "online_rows")):
        first = written(problem, store, structure=structure)
        workload = analyse(problem, Policy.STOCK, store)
        launches = profile(f"{first.spec.regions[-1].name}_kernel", registers=96, waves=0.4)
        for group in ("mapping", "tiling", "memory"):
            for move in moves(first.spec, group, launches, DEVICE, workload)[:1]:
                assert error(problem, written(problem, store, spec=first.spec, edits=move.edits)) < 2e-6, move.change
