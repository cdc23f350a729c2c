"""How wrong the estimate is said to be: what was measured, and nothing where nothing was."""

import json
from pathlib import Path
from typing import Any

import pytest

from egg.state.estimate_error import UNKNOWN
from egg.tools import known_error as module
from egg.tools.known_error import RESULTS, error_told, known_error

SUMMARY = {
    "points": 90,
    "kernels": 9,
    "spearman": {"least": 0.81, "median": 0.93},
    "factor": {"median": 1.15, "nine_of_ten": 1.5},
}


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    module._all.cache_clear()
    return tmp_path


def put(folder: Path, name: str, target: str, present: bool = True, **summary: Any) -> None:
    device = {"name": f"GPU of {target}", "target": target, "present": present}
    told = {"device": device, "date": "2026-12-01", "commit": "abc", "summary": SUMMARY | summary}
    (folder / f"{name}-estimator.json").write_text(json.dumps(told))
    module._all.cache_clear()


def test_nothing_is_told_that_was_not_measured(results: Path) -> None:
    assert known_error("sm_90") is None and error_told("sm_90") == UNKNOWN
    put(results, "cpu", "sm_90", present=False)
    put(results, "failed", "sm_90", factor=None)
    assert error_told("sm_90") == UNKNOWN


def test_the_target_s_own_figures_come_first(results: Path) -> None:
    put(results, "a100", "sm_80")
    put(results, "h200", "sm_90")
    told = error_told("sm_90")
    assert "factor of 1.15 typically, nine of ten within 1.50" in told and "90 points of 9 kernels" in told
    assert "GPU of sm_90" in told and "not measured on" not in told
    assert "not measured on sm_120" in error_told("sm_120")


def test_results_in_the_checkout_are_well_formed() -> None:
    module._all.cache_clear()
    assert len(list(RESULTS.glob("*estimator.json"))) >= len(module._all(RESULTS))
    assert isinstance(error_told("sm_90"), str)
