"""The expert's rules for rows: what each profile calls for, and that a move is one change within its group."""

from typing import Any

import pytest

from egg.state.evaluation import Launch, StaticProfile
from egg.state.stage import GROUPS
from egg.tools.expert.rows.decide import decisions, structures
from egg.tools.expert.rows.moves import moves
from egg.tools.expert.spec import RegionSpec
from tests.tools.expert.problems import DEVICE

FACTS: dict[str, Any] = {
    "form": "rows",
    "rows": 16384,
    "cols": 4096,
    "lanes": 1,
    "maps": True,
    "merges": True,
    "readings": 2,
    "inputs": 1,
    "item_bytes": 4,
    "shared": True,
    "sms": 132,
}


def spec(structure: str, **facts: Any) -> RegionSpec:
    known = FACTS | facts
    return RegionSpec(name="r0_norm", kind="normalisation", facts=known, **decisions(structure, known, DEVICE))


def profile(**launch: Any) -> StaticProfile:
    values: dict[str, Any] = {
        "kernel": "r0_norm_kernel",
        "grid": (16384, 1, 1),
        "warps": 16,
        "stages": 1,
        "registers": 32,
        "spills": 0,
        "shared_bytes": 64,
        "occupancy": 1.0,
        "limiter": "warps",
        "waves": 31.0,
        "bytes": 1 << 29,
        "estimate_ms": 0.2,
    }
    return StaticProfile(target="sm_90", launches=(Launch(**(values | launch)),), estimate_ms=0.2)


@pytest.mark.parametrize(
    ("facts", "first"),
    [
        ({}, "one_pass"),
        ({"cols": 262144, "rows": 4096}, "online"),
        ({"cols": 1 << 22, "rows": 4}, "split"),
        ({"cols": 8192, "maps": False, "merges": False, "readings": 1}, "online"),
        ({"form": "columns", "rows": 112, "cols": 64, "lanes": 262144}, "one_pass"),
        ({"form": "columns", "rows": 128, "cols": 4096, "lanes": 4095, "maps": False, "merges": False}, "online"),
        ({"form": "columns", "rows": 1, "cols": 1 << 20, "lanes": 64, "maps": False}, "split"),
    ],
)
def test_first_structure_follows_the_sizes(facts: dict[str, Any], first: str) -> None:
    assert structures(FACTS | facts)[0] == first


def test_a_long_reduction_over_the_middle_steps_one_row_at_a_time() -> None:
    """The tile that was measured at the copy's rate: one row of 4096 lanes, 32 warps."""
    tiling = spec("online", form="columns", rows=128, cols=4096, lanes=4095, maps=False).tiling
    assert tiling == {"BLOCK": 1, "LANES": 4096, "num_warps": 32}


@pytest.mark.parametrize(
    ("structure", "facts", "launch", "group", "change"),
    [
        ("one_pass", {"cols": 32768}, {"spills": 96}, "structure", {"name": "online"}),
        ("online", {}, {}, "structure", {"name": "one_pass"}),
        ("two_pass", {"cols": 262144}, {}, "structure", {"name": "online"}),
        ("online", {"rows": 8, "cols": 1 << 22}, {}, "structure", {"name": "split"}),
        ("one_pass", {"cols": 8192}, {"spills": 96}, "tiling", {"num_warps": 32}),
        ("one_pass", {"cols": 512}, {}, "mapping", {"persistent": True, "programs_per_sm": 2}),
        ("split", {"rows": 8, "cols": 1 << 22}, {}, "mapping", {"SPLITS": 256}),
        ("online", {}, {}, "memory", {"eviction": "keep"}),
    ],
)
def test_a_profile_calls_for_its_change(
    structure: str, facts: dict[str, Any], launch: dict[str, Any], group: Any, change: dict[str, Any]
) -> None:
    region = spec(structure, **facts)
    if structure == "one_pass" and launch.get("spills"):
        region = region.edited({"tiling": {"num_warps": 16}})
    found = moves(region, group, profile(**launch), DEVICE)
    assert change in [move.edits["r0_norm"][group] for move in found]


@pytest.mark.parametrize("structure", ["one_pass", "online", "two_pass", "split"])
@pytest.mark.parametrize("form", ["rows", "columns"])
@pytest.mark.parametrize("cols", [1, 7, 64, 4096, 1 << 20])
def test_moves_change_something_within_their_group(structure: str, form: str, cols: int) -> None:
    region = spec(structure, form=form, cols=cols, rows=64, lanes=512 if form == "columns" else 1)
    for group in GROUPS:
        for move in moves(region, group, None, DEVICE):
            assert list(move.edits) == ["r0_norm"]
            assert list(move.edits["r0_norm"]) == [group]
            assert region.edited(move.edits["r0_norm"]) != region
            assert move.why and 0 < move.expected_gain < 1
            assert move.change.startswith("r0_norm: ") and "None" not in move.change


@pytest.mark.parametrize("structure", ["one_pass", "online", "two_pass", "split"])
@pytest.mark.parametrize("form", ["rows", "columns"])
@pytest.mark.parametrize(("rows", "cols", "lanes"), [(1, 2, 3), (1, 1 << 24, 1), (7, 13, 100003), (1 << 20, 1, 1)])
def test_tiles_are_powers_of_two_that_a_block_can_hold(
    structure: str, form: str, rows: int, cols: int, lanes: int
) -> None:
    region = spec(structure, form=form, rows=rows, cols=cols, lanes=lanes)
    numbers = [v for group in (region.mapping, region.tiling) for v in group.values() if not isinstance(v, bool)]
    assert all(number & (number - 1) == 0 and number > 0 for number in numbers)
    assert 1 <= region.tiling["num_warps"] <= 32
