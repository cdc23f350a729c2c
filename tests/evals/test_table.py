"""The README's table of results."""

import pytest

from egg.evals.table import BEGIN, END, fill, table

FAST = {
    "problem": "softmax_long",
    "measured": True,
    "proven_faster": True,
    "eager_ms": 2.0,
    "compile_ms": 1.5,
    "kernel_ms": 1.0,
    "speedups": [{"baseline": "eager", "ratio": 2.0, "low": 1.9, "high": 2.1}],
    "torch_regions": ["r1_sort"],
}
KEPT = {**FAST, "problem": "conv", "proven_faster": False, "kernel_ms": 3.0}
RESULTS = {
    "commit": "abc",
    "date": "2026-11-30",
    "policy": "ieee",
    "backbone": "rulebook",
    "device": {"name": "NVIDIA H200", "software": {"triton": "3.6", "torch": "2.11"}},
    "rows": [KEPT, FAST],
    "failures": {},
    "unfinished": [],
}


def test_a_speedup_comes_with_its_interval_and_its_policy():
    text = table(RESULTS)
    assert "NVIDIA H200, policy `ieee`" in text and "(torch 2.11, triton 3.6)" in text
    assert "| softmax_long | 2.000 | 1.500 | 1.000 | 2.00 [1.90, 2.10] | – | r1_sort |" in text


def test_what_is_not_proven_faster_shows_no_speedup():
    assert "| conv | 2.000 | 1.500 | reference kept | – | – | – |" in table(RESULTS)


def test_failures_are_named():
    assert "Ended with an error: rope." in table({**RESULTS, "failures": {"rope": "MachineError"}})


def test_a_note_on_how_it_was_measured_is_shown():
    assert "Two leases." in table({**RESULTS, "note": "Two leases."})


def test_what_was_not_measured_is_named():
    assert "Not measured yet: rope." in table({**RESULTS, "unfinished": ["rope"]})


def test_estimates_make_no_table():
    with pytest.raises(ValueError, match="measured"):
        table({**RESULTS, "rows": [{**FAST, "measured": False}]})


def test_filling_replaces_only_what_is_between_the_markers():
    text = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert fill(text, ["one", "two"]) == f"before\n{BEGIN}\none\n\ntwo\n{END}\nafter\n"
    with pytest.raises(ValueError, match="README"):
        fill("no markers", ["one"])
