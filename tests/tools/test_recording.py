"""What a candidate's process may tell of its kernels, and what not."""

from math import inf, nan
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from egg.state.evaluation import Status
from egg.tools import kernels, recording
from egg.tools.assembly.compiled import Compiled
from egg.tools.device import detect_device
from egg.tools.errors import CandidateError
from egg.tools.estimate import TorchFacts
from egg.tools.kernels import Batch, Unfinished
from egg.tools.launched import Seen
from egg.tools.sandbox.records import Reply
from egg.tools.store import Store

JOB: dict[str, Any] = {"name": "k", "ttir": "module {}", "options": {}, "lines": [3]}


@pytest.fixture
def batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Batch:
    monkeypatch.setattr(kernels._compilers, "compile", lambda job, target: Compiled(registers=len(job.ttir)))
    monkeypatch.setattr(kernels._compilers, "ready", lambda: None)
    return Batch(detect_device("sm_90"), Store(tmp_path, tmp_path / "cache"))


def test_kernels_are_compiled_as_they_come_and_outcomes_given_when_needed(batch: Batch) -> None:
    with batch:
        assert recording._served({"jobs": [JOB], "need": []}, batch) == {}
        told = recording._served({"jobs": [JOB | {"ttir": "longer text"}], "need": [0, 1]}, batch)
    assert [told[number]["registers"] for number in ("0", "1")] == [9, 11]


def test_equal_kernels_of_two_names_are_one_piece_of_work(batch: Batch, tmp_path: Path) -> None:
    with batch:
        recording._served({"jobs": [JOB, JOB | {"lines": [9]}], "need": [0, 1]}, batch)
    assert (tmp_path / "journal.jsonl").read_text().count('"kernel"') == 1


@pytest.mark.parametrize(
    "asked",
    [
        {"jobs": [JOB | {"more": 1}], "need": []},
        {"jobs": [JOB | {"ttir": 5}], "need": []},
        {"jobs": [], "need": [7]},
        {"jobs": [], "need": ["first"]},
        {"jobs": 3, "need": []},
        {"need": []},
    ],
)
def test_nonsense_is_a_forgery(asked: dict[str, Any], batch: Batch) -> None:
    with batch, pytest.raises(CandidateError) as raised:
        recording._served(asked, batch)
    assert raised.value.status is Status.CHEAT


class Insatiable:
    """A candidate's child that asks for nothing, for ever."""

    opened = Reply(state="done", value={"jobs": [], "need": []})
    lost = False

    def __init__(self) -> None:
        self.limits: list[float] = []

    def __enter__(self) -> "Insatiable":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def ask(self, message: dict[str, Any], seconds: float) -> Reply:
        self.limits.append(seconds)
        sleep(0.02)
        return self.opened


def test_a_conversation_has_an_end(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    child = Insatiable()
    monkeypatch.setattr(recording, "open_worker", lambda *_: child)
    batch._end = monotonic() + 0.3
    with batch, pytest.raises(Unfinished) as raised:
        recording._converse({}, batch)
    assert raised.value.status is Status.TIMEOUT and 0 < len(child.limits) <= 15
    assert all(0 < limit <= 0.3 for limit in child.limits) and child.limits == sorted(child.limits, reverse=True)


SEEN: dict[str, Any] = {
    "job": 0, "kernel": "k", "grid": (4, 1, 1), "stages": 3, "bytes": 8, "load_bytes": 4.0, "store_bytes": 4.0,
    "dots": {"tf32": 1.0}, "alu": 0.0, "elementwise": 0.0, "step_bytes": 0.0, "steps": 1.0, "by_line": {1: (4.0, 4.0)},
}  # fmt: skip
OPERATOR: dict[str, Any] = {"name": "mm", "bytes": 8, "flops": 8.0, "dtype": "float32"}


@pytest.mark.parametrize(
    ("kind", "forged"),
    [
        (Seen, {"grid": (0, 1, 1)}),
        (Seen, {"grid": (1, -1, 1)}),
        (Seen, {"bytes": -1}),
        (Seen, {"bytes": 10**400}),
        (Seen, {"calls": 10**400}),
        (Seen, {"load_bytes": nan}),
        (Seen, {"store_bytes": -1.0}),
        (Seen, {"alu": inf}),
        (Seen, {"steps": 1e308}),
        (Seen, {"dots": {"fp4": 1.0}}),
        (Seen, {"dots": {"tf32": nan}}),
        (Seen, {"loops": (nan,)}),
        (Seen, {"by_line": {1: (0.0, inf)}}),
        (TorchFacts, {"bytes": -1}),
        (TorchFacts, {"flops": nan}),
    ],
)
def test_amounts_that_are_none_are_forged(kind: type[Seen | TorchFacts], forged: dict[str, Any]) -> None:
    told = SEEN if kind is Seen else OPERATOR
    kind.model_validate(told)
    with pytest.raises(ValueError, match="validation error"):
        kind.model_validate(told | forged)


def test_there_is_an_end_to_kernels_and_to_waiting(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "MOST", 2)
    with batch, pytest.raises(CandidateError, match="fewer, smaller kernels") as raised:
        recording._served({"jobs": [JOB] * 3, "need": []}, batch)
    assert raised.value.status is Status.TIMEOUT
    batch._end = 0.0
    batch._futures = [kernels.Future()]
    with pytest.raises(CandidateError, match="takes too long"):
        batch.outcome(0)
