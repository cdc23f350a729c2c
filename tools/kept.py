"""What the instruments said in a run: `results.jsonl` in its folder, from which a replay takes it again.

A verdict on an H200 can only be had on one. A replay asks no instrument: it quotes what was noted under the same
question (`egg.tools.store`'s keys, sources and device included), whichever version of the judge answered then.
"""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field

from egg.state.errors import UserError
from egg.state.fault import Fault
from egg.state.record import Record
from egg.state.status import Status
from egg.tools.clock import elapsed, stand_at
from egg.tools.errors import CandidateError
from egg.tools.gpu_time import book
from egg.tools.lines import append, read
from egg.tools.redaction import redacted

R = TypeVar("R", bound=Record)

FILE = "results.jsonl"
BY = "answered-by.txt"
"""Who gave the answers of a recording, in words, where a name alone would not tell."""
MARK = "replay.json"
"""In the folder of a replay: which recording it is of."""
WORDS = {
    "intake": "settings, GPU and problem",
    "workload": "workload of the problem",
    "baseline": "time of the reference",
    "skeleton": "kernel by the expert library",
    "profile": "compilation of a kernel",
    "check": "check of a kernel",
    "verdict": "verdict on a kernel",
    "probe": "probe of a kernel",
    "forward": "profile on the GPU",
    "ceilings": "ceilings of the GPU",
    "search": "machine search",
    "point": "kernel of a searched point",
}
"""The kinds of results that a run asks for itself; what is below them (compiled kernels, traces) is in them."""
VERSIONS = ("version", "library")
"""Parts of a question that say who answers, not what is asked."""


class Mark(Record):
    """Which recording a folder is a replay of."""

    recording: str
    any_prompt: bool = Field(False, description="Whether answers are given whatever the prompt is now")


class Failure(Record):
    """A candidate's failure that an instrument raised."""

    status: Status
    feedback: str
    faults: tuple[Fault, ...]


class Result(Record):
    """One answer of an instrument, a line of `results.jsonl`."""

    kind: str
    key: str = Field(description="Digest of the question, without the version of what answers")
    version: Any = Field(None, description="Of what answered")
    elapsed_ms: int = Field(description="How long the run had been at work then")
    gpu_ms: int = Field(0, description="How long the GPU was held for it")
    answer: dict[str, Any] | None = None
    failure: Failure | None = None


class NotRecorded(UserError):
    """A replay asks what the recorded run never did."""


def mark_of(run_dir: str | Path) -> Mark | None:
    """What the folder is a replay of; None for any other run."""
    path = Path(run_dir) / MARK
    return Mark.model_validate_json(path.read_text()) if path.exists() else None


def note(run_dir: Path, kind: str, key: str, version: Any, outcome: Record | CandidateError, gpu_ms: int = 0) -> None:
    """Keep an answer. The last of a question counts: it is what the run went on with."""
    result = Result(kind=kind, key=key, version=version, elapsed_ms=elapsed(str(run_dir), 0), gpu_ms=gpu_ms)
    if isinstance(outcome, CandidateError):
        failure = Failure(status=outcome.status, feedback=outcome.feedback, faults=outcome.faults)
        result = result.model_copy(update={"failure": failure})
    else:
        result = result.model_copy(update={"answer": outcome.model_dump(mode="json")})
    line = Result.model_validate(redacted(result.model_dump(mode="json")))
    before = _last(run_dir, kind, key)
    if before is None or (before.answer, before.failure) != (line.answer, line.failure):
        append(run_dir / FILE, line.model_dump(mode="json", exclude_none=True))


def noted(run_dir: Path, kind: str, key: str, type_: type[R]) -> R | None:
    """What this very run was told before it was killed, so that it goes on with the same.

    Raises:
        CandidateError: as it did then.
    """
    found = _last(run_dir, kind, key)
    return _said(found, type_) if found else None


def recall(run_dir: Path, mark: Mark, kind: str, key: str, type_: type[R]) -> R:
    """What the recorded run was told. The replay's clock then stands where that run's did.

    Raises:
        CandidateError: as it did then.
        NotRecorded: it never asked this.
    """
    found = _last(Path(mark.recording), kind, key)
    if found is None:
        what = f"the recording {mark.recording} holds no such {WORDS[kind]}"
        raise NotRecorded(f"{what}: this version of EGG asks for another, or the recording is not whole")
    stand_at(str(run_dir), found.elapsed_ms)
    book(found.gpu_ms)
    return _said(found, type_)


def _last(run_dir: Path, kind: str, key: str) -> Result | None:
    lines = reversed(read(run_dir / FILE, Result))
    return next((line for line in lines if (line.kind, line.key) == (kind, key)), None)


def _said(result: Result, type_: type[R]) -> R:
    if result.failure:
        raise CandidateError(result.failure.status, result.failure.feedback, result.failure.faults)
    return type_.model_validate(result.answer)
