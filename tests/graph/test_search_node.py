"""The search node: one point after the other goes to the judge, and no point is repaired."""

import pytest

from egg.graph import search as node
from egg.graph import stage
from egg.graph.search import _limits, search
from egg.state.candidate import Candidate
from egg.state.errors import MachineError
from egg.state.evaluation import Status
from egg.state.search import Contender, Searched, SearchLimits
from egg.state.settings import Limits, Settings
from tests.graph.make import candidate, stage_state, verdict
from tests.tools.tune.written import PLAIN

INCUMBENT = Candidate(source=PLAIN, origin="seed-1", structure="one_pass", evaluation=verdict(estimate_ms=1.0))
FOUND = Searched(
    told="machine search: two points are better",
    contenders=(
        Contender(values={"BLOCK": 512}, change="BLOCK = 512"),
        Contender(values={"BLOCK": 256}, change="BLOCK = 256"),
    ),
)


@pytest.fixture
def state(tmp_path):
    return stage_state(run_dir=str(tmp_path), incumbent=INCUMBENT, searched=FOUND)


def test_the_best_point_is_handed_out_and_then_the_next_best(state):
    first = search(state)
    assert first["searching"] and "BLOCK = 512\n" in first["draft"].source and first["draft"].origin == "mapping"
    assert first["plan"].change == "BLOCK = 512 (machine search)"
    second = search({**state, **first})
    assert second["searching"] and "BLOCK = 256\n" in second["draft"].source
    third = search({**state, **second})
    assert not third["searching"] and third["draft"] is None and third["plan"] is None
    assert third["searched"].told == FOUND.told


@pytest.mark.parametrize(("status", "again"), [(Status.MISMATCH, True), (Status.OK, False)])
def test_a_point_that_fails_is_not_repaired_and_costs_no_round(state, monkeypatch, status, again):
    monkeypatch.setattr(stage, "judge", lambda *_: verdict(status, estimate_ms=0.5))
    state |= search(state)
    update = stage.judge_draft(state)
    assert update["searching"] is again and (update["round"], update["repair"], update["plan"]) == (0, 0, None)
    assert update["attempts"][0].change == "BLOCK = 512 (machine search)"
    assert ("incumbent" in update) is not again


def test_a_kernel_without_numbers_is_not_searched(tmp_path):
    bare = candidate(source="class ModelNew: ...", origin="seed-1")
    update = search(stage_state(run_dir=str(tmp_path), incumbent=bare))
    assert not update["searching"] and "no mapping numbers" in update["searched"].told
    assert not (tmp_path / "journal.jsonl").exists()


def test_a_search_that_the_machine_fails_costs_the_search_alone(tmp_path, monkeypatch):
    def fails(*_, **__):
        raise MachineError("the kernel to start from cannot be timed: out of memory")

    monkeypatch.setattr(node, "tune_kernel", fails)
    update = search(stage_state(run_dir=str(tmp_path), incumbent=INCUMBENT))
    assert not update["searching"] and update["draft"] is None
    assert update["searched"].told == "no search: the kernel to start from cannot be timed: out of memory"


def test_a_search_takes_no_more_time_than_the_run_has():
    settings = Settings(limits=Limits(minutes=1.0), search_limits=SearchLimits(seconds=50))
    assert _limits(settings, 0).seconds == 50
    assert _limits(settings, 30_000).seconds == 30
    assert _limits(settings, 600_000).seconds == 1
