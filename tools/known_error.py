"""How wrong the estimate is known to be: read from the results that `egg.evals.estimator` left, where there are any."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from egg.state.estimate_error import UNKNOWN, EstimateError

RESULTS = Path(__file__).resolve().parent.parent / "evals" / "results"
FILES = "*estimator.json"


def known_error(target: str) -> EstimateError | None:
    """What was measured on this target, else on another; None if nowhere."""
    found = _all(RESULTS)
    return next((error for error in found if error.target == target), found[0] if found else None)


def error_told(target: str) -> str:
    """The same in a line."""
    error = known_error(target)
    return error.told(target) if error else UNKNOWN


@cache
def _all(folder: Path) -> tuple[EstimateError, ...]:
    read = (_read(path) for path in sorted(folder.glob(FILES)))
    return tuple(error for error in read if error is not None)


def _read(path: Path) -> EstimateError | None:
    """None if nothing was timed."""
    told: dict[str, Any] = json.loads(path.read_text())
    summary, device = told.get("summary") or {}, told["device"]
    if not device["present"] or not summary.get("factor") or not summary.get("spearman"):
        return None
    return EstimateError(
        gpu=device["name"],
        target=device["target"],
        date=told["date"],
        commit=told["commit"],
        points=summary["points"],
        kernels=summary["kernels"],
        factor=summary["factor"]["median"],
        nine_of_ten=summary["factor"]["nine_of_ten"],
        spearman=summary["spearman"]["median"],
        spearman_least=summary["spearman"]["least"],
    )
