"""The controls' own logic, on the host's clock: rows, what counts as shown, and CUPTI's trace divided into calls."""

from typing import Any

import pytest

from egg.evals import controls, verdict_cost
from egg.evals.provenance import provenance, write_results
from egg.evals.small import ADD, add_kernel, load
from egg.state.settings import Policy
from egg.tools.device import detect_device
from egg.tools.tasks.cupti import Activity, by_call
from egg.tools.timing.interleave import Plan

ABSENT = detect_device("sm_90")
BRIEF = Plan(rounds=3, outputs=1, fresh=True)


@pytest.mark.slow
def test_rows_of_the_chain() -> None:
    row = controls.against_itself("chain", ABSENT, Policy.STOCK, 3, BRIEF)
    assert row["problem"] == "chain" and row["repeat"] == 3 and row["low"] < row["ratio"] < row["high"]
    assert row["holds_1"] == (row["low"] <= 1 <= row["high"])
    assert row["conditions"]["outputs"]["checked"] == 1
    doubled = controls.twice("chain", ABSENT, Policy.STOCK, BRIEF)
    assert doubled["ratio"] < 0.9


def rows(holds: int, of: int, **changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "against_itself": [{"holds_1": n < holds, "faster": False} for n in range(of)],
        "twice": [{"right": True}],
        "agreement": [{"agrees": True}],
    }
    return base | changes


def test_what_counts_as_shown() -> None:
    assert all(controls.verdict(rows(19, 20)).values())
    assert list(controls.verdict(rows(18, 20)).values()) == [False, True, True, True]
    assert list(controls.verdict(rows(0, 0, twice=[], agreement=[])).values()) == [False] * 4
    unseen = [{"agrees": None}]
    assert list(controls.verdict(rows(20, 20, agreement=unseen)).values()) == [True, True, True, False]


def test_a_long_run_goes_on_where_it_stopped(tmp_path: Any) -> None:
    out, now = tmp_path / "controls.json", provenance("controls", ABSENT, Policy.STOCK)
    nothing = {"agreement": [], "twice": [], "against_itself": []}
    assert controls.earlier(out, now) == nothing
    rows_then = {"agreement": [{"problem": "chain"}], "twice": [], "against_itself": []}
    write_results(out, now | rows_then)
    assert controls.earlier(out, now) == rows_then
    assert controls.earlier(out, now | {"commit": "another"}) == nothing


def event(start: float, length: float, category: str = "kernel") -> dict[str, Any]:
    return {"ph": "X", "cat": category, "ts": start, "dur": length, "name": "k"}


def test_a_trace_is_divided_into_calls() -> None:
    events = [event(50.0, 5), event(0.0, 30, "gpu_memset"), event(31.0, 10)]
    events += [event(100, 30, "gpu_memset"), event(132, 8), event(141.0, 4), event(3.0, 9.0, "cpu_op")]
    first, second = by_call(events, 2)
    assert first == [Activity(0, 30), Activity(31, 41), Activity(50, 55)] and len(second) == 3
    with pytest.raises(RuntimeError, match="6 activities in 4 calls"):
        by_call(events, 4)


@pytest.mark.slow
def test_the_small_kernel_is_honest_and_its_cost_is_measured(tmp_path: Any) -> None:
    assert load("small_add", ADD).small_constants and add_kernel(1) != add_kernel(2)
    figures = verdict_cost.measure(ABSENT, tmp_path, repeats=1, side_by_side=1)
    assert set(figures["full_parts_s"]) == {"profile", "check", "verdict"} and figures["full_a_minute"] > 0
