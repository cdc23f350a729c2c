"""A tuning stage pays for no opinion where its instruments say that there is nothing to gain, and only there."""

import pytest

from egg.graph.decide import decision
from egg.graph.routes import begin
from egg.graph.unasked import unasked
from egg.state.candidate import Attempt, Candidate
from egg.state.search import Searched
from egg.tools.expert import KernelSpec
from egg.tools.expert.heading import headed
from tests.graph.make import candidate, stage_state
from tests.graph.test_at_ceiling import measured

LIBRARY = headed(KernelSpec(policy="stock", structure="one_pass", regions=()), "class ModelNew: ...\n")
FOUND = Searched(told="machine search over BLOCK: none is better")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """What the GPU reaches is noted in the run's folder."""
    monkeypatch.chdir(tmp_path)


def state_of(share: float, source: str = LIBRARY, **changes):
    """A mapping stage after its search, on a stream that takes this share of the memory's ceiling."""
    state = stage_state(searched=FOUND, ledger=(), **changes)
    verdict = measured(share, state["device"].bandwidth)
    return state | {"incumbent": Candidate(source=source, origin="seed-1", structure="one_pass", evaluation=verdict)}


def test_nobody_is_asked_about_what_another_stage_decides():
    state = state_of(0.7)
    assert unasked(state) == "machine search over BLOCK: none is better; what holds it back is decided in structure"
    assert begin(state) == "settle"
    line = decision(state)
    assert (line.verb.value, line.why) == ("skipped", unasked(state))


def test_nobody_is_asked_about_a_kernel_at_its_ceiling():
    assert "stop" in (unasked(state_of(0.99, source="class ModelNew: ...\n")) or "")


@pytest.mark.parametrize(
    "changes",
    [
        {"source": "class ModelNew: ...\n"},
        {"hints": ("try a persistent grid",)},
        {"attempts": (Attempt(id="a", origin="mapping", status="mismatch"),)},
    ],
    ids=["not the library's", "a hint", "a choice that failed"],
)
def test_the_agents_are_asked_otherwise(changes):
    state = state_of(0.7, **changes)
    assert unasked(state) is None
    assert begin(state) == "profile"


def test_the_agents_are_asked_where_nothing_was_searched_or_diagnosed():
    assert unasked(state_of(0.7) | {"searched": None}) is None
    assert unasked(stage_state(searched=FOUND, incumbent=candidate(LIBRARY, origin="seed-1"))) is None
