"""The time that a candidate's calls have together is its own: what a busy machine takes of it does not count."""

import pytest

from egg.state.settings import Policy
from egg.state.status import Status
from egg.tools.correctness import trial as module
from egg.tools.correctness.trial import Trial
from egg.tools.device import detect_device
from egg.tools.errors import CandidateError
from egg.tools.sandbox.records import Reply


class Child:
    """Takes so many seconds for a request, and gets a processor for a part of them."""

    lost = False

    def __init__(self) -> None:
        self.now = self.processor_s = 0.0
        self.takes, self.gets = 0.0, 0.0
        self.limits: list[float] = []
        self.reply = Reply("done", {})

    def ask(self, message: dict[str, object], seconds: float) -> Reply:
        self.limits.append(seconds)
        self.now += self.takes
        self.processor_s += self.gets
        return self.reply


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Child:
    made = Child()
    monkeypatch.setattr(module, "monotonic", lambda: made.now)
    return made


@pytest.fixture
def trial(child: Child, monkeypatch: pytest.MonkeyPatch) -> Trial:
    made = Trial("", "", detect_device("sm_90"), Policy.STOCK, 100.0, traits=False)
    made._child = child  # type: ignore[assignment]
    return made


@pytest.mark.parametrize(
    ("takes", "gets", "left"),
    [(20.0, 20.0, 80.0), (20.0, 5.0, 95.0), (20.0, 0.0, 95.0), (20.0, 45.0, 80.0)],
    ids=["a machine of its own", "a quarter of a processor", "asleep", "several threads"],
)
def test_what_a_call_takes(
    trial: Trial, child: Child, takes: float, gets: float, left: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "_answered", lambda reply, asked: {})
    child.takes, child.gets = takes, gets
    trial._ask({"do": "call"})
    assert trial.seconds == pytest.approx(left) and child.limits == [100.0]


def test_what_ran_out_is_said(trial: Trial, child: Child) -> None:
    trial._number = 5
    child.reply = Reply("timeout", {}, "no answer within 3 s")
    with pytest.raises(CandidateError, match="too much work for all calls together, 4 of which ended") as failed:
        trial._ask({"do": "call"})
    assert failed.value.status is Status.TIMEOUT
