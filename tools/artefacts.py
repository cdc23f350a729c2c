"""What a run leaves for its user: kernel.py, evidence.json, report.md, and every kernel it tried."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import uuid4

from egg.state.candidate import Attempt, Candidate
from egg.state.device import Device
from egg.state.evaluation import Baseline
from egg.state.ledger import Decision
from egg.state.outcome import Outcome
from egg.state.price import Price
from egg.state.problem import Problem, Workload
from egg.state.search import SearchResult
from egg.state.settings import Settings
from egg.state.usage import Usage
from egg.tools.diagnosis import by_estimate
from egg.tools.known_error import error_told, known_error
from egg.tools.pruning import pruning
from egg.tools.redaction import redacted, redacted_text
from egg.tools.report import render_report

FORMAT = 1
"""Raised whenever evidence.json changes its meaning."""

REFERENCE_HEADER = """\
# EGG delivers the reference itself: {claim}
# `ModelNew` is the problem's own `Model`; there is no Triton kernel in this file.
"""


def save_kernel(run_dir: str, candidate: Candidate) -> Path:
    """Keep a kernel under its content address: `kernels/<id>.py`."""
    return _write(Path(run_dir) / "kernels" / f"{candidate.id}.py", candidate.source)


def save_search(run_dir: str, branch: str, result: SearchResult) -> Path:
    """Keep a stage's search, every point with its outcome: `search/<stage>.json`."""
    return _write(Path(run_dir) / "search" / f"{branch}.json", result.model_dump_json(indent=1) + "\n")


def write_artefacts(
    run_dir: str,
    *,
    settings: Settings,
    problem: Problem,
    workload: Workload,
    device: Device,
    baseline: Baseline,
    incumbent: Candidate | None,
    ledger: Sequence[Decision],
    attempts: Sequence[Attempt],
    usage: Usage,
    outcome: Outcome,
    elapsed_ms: int,
    models: Mapping[str, int] | None = None,
    prices: Sequence[Price] = (),
    counted: str = "",
) -> dict[str, str]:
    """Write the run's results and return their paths by name. Writing them twice gives the same files.

    `models` says how many answers each model gave, `prices` what they cost, `counted` how tokens were counted here.

    Raises:
        ValueError: if the outcome names another kernel than the incumbent.
    """
    folder, error = Path(run_dir), known_error(device.target)
    context = pruning(usage, ledger, counted)
    evidence = {
        "format": FORMAT,
        "outcome": outcome.model_dump(mode="json", exclude={"files"}),
        "problem": problem.model_dump(mode="json", exclude={"source", "small_source"}),
        "settings": settings.model_dump(mode="json"),
        "device": device.model_dump(mode="json"),
        "workload": workload.model_dump(mode="json"),
        "baseline": baseline.model_dump(mode="json"),
        "winner": incumbent.model_dump(mode="json", exclude={"source"}) | {"id": incumbent.id} if incumbent else None,
        "ledger": [decision.model_dump(mode="json") for decision in ledger],
        "attempts": [attempt.model_dump(mode="json") for attempt in attempts],
        "usage": usage.model_dump(mode="json") | {"total": usage.total.model_dump(mode="json")},
        "models": dict(models or {}),
        "prices": [price.model_dump(mode="json") for price in prices],
        "context": context.model_dump(mode="json") | {"sent": context.sent, "unpruned": context.unpruned},
        "elapsed_ms": elapsed_ms,
        "estimate_error": error.model_dump(mode="json") if error else None,
    }
    static = incumbent.evaluation.profile if incumbent and incumbent.evaluation else None
    report = render_report(
        settings=settings,
        problem=problem,
        workload=workload,
        device=device,
        baseline=baseline,
        incumbent=incumbent,
        ledger=ledger,
        attempts=attempts,
        usage=usage,
        prices=prices,
        context=context,
        outcome=outcome,
        elapsed_ms=elapsed_ms,
        estimate_error=error_told(device.target),
        held=by_estimate(static, device)[:1] if static else (),
    )
    return {
        "kernel": str(_write(folder / "kernel.py", delivered_source(problem, incumbent, outcome))),
        "evidence": str(_write(folder / "evidence.json", json.dumps(redacted(evidence), indent=2) + "\n")),
        "report": str(_write(folder / "report.md", redacted_text(report))),
    }


def delivered_source(problem: Problem, incumbent: Candidate | None, outcome: Outcome) -> str:
    """The text of kernel.py: the winner, or the reference under the name `ModelNew`, saying so."""
    if outcome.kernel is None:
        header = REFERENCE_HEADER.format(claim=" ".join(outcome.claim.split()))
        return f"{header}{problem.source.rstrip()}\n\n\nModelNew = Model\n"
    if incumbent is None or incumbent.id != outcome.kernel:
        raise ValueError(f"the outcome names kernel {outcome.kernel}, which is not the incumbent")
    return incumbent.source


def _write(path: Path, text: str) -> Path:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{uuid4().hex}")
    partial.write_text(text)
    partial.replace(path)
    return path
