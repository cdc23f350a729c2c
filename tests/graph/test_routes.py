"""Every conditional edge, both ways."""

import pytest

from egg.graph.decide import decision
from egg.graph.routes import (
    after_ask,
    after_choose,
    after_code,
    after_confirm,
    after_debug,
    after_judge,
    after_open,
    after_profile,
    after_review,
    after_run_review,
    after_search,
    after_settle,
    enter,
    exhausted,
    next_round,
    seeds,
)
from egg.graph.stage import abandon, settle
from egg.graph.stages import MAPPING, SEED
from egg.state.evaluation import Status
from egg.state.ledger import Review
from egg.state.pause import Action
from egg.state.plan import Diagnosis, Plan
from egg.state.settings import Limits, Settings
from egg.state.usage import Spend, Usage
from tests.graph.make import BROKE, WORKLOAD, candidate, run_state, stage_state

BROKEN = candidate(status=Status.MISMATCH)


@pytest.mark.parametrize(
    ("state", "node"),
    [
        (stage_state(), "search"),
        (stage_state(settings=Settings(search=False)), "profile"),
        (stage_state(spec=SEED), "profile"),  # a structure is not a number
        (stage_state(incumbent=None), "code"),
        (stage_state(settings=BROKE), "settle"),
    ],
)
def test_after_open(state, node):
    assert after_open(state) == node


@pytest.mark.parametrize(("pause", "before", "after"), [("never", 0, 0), ("stages", 1, 0), ("decisions", 0, 1)])
def test_a_person_is_asked_when_the_settings_say_so(pause, before, after):
    settings = Settings(pause=pause)
    assert (after_open(stage_state(settings=settings)) == "ask") == before
    settled = settle(stage_state(settings=settings, run_dir="r"))
    assert (after_settle(settled) == "review") == after == ("ledger" not in settled)
    broke = Settings(pause=pause, limits=Limits(calls=0))
    assert after_open(stage_state(settings=broke)) == "settle"


def test_after_a_person_was_asked():
    assert after_ask(stage_state()) == after_open(stage_state())
    assert after_ask(stage_state(left_out=Review(action=Action.REFUSE))) == "settle"
    line = decision(stage_state())
    assert after_review(stage_state(decided=line)) == "__end__"
    assert after_review(stage_state(decided=None, hints=("h",), round=MAPPING.rounds)) == "profile"
    assert after_choose(run_state(decided=line)) == after_confirm(run_state(decided=line)) == "review"
    [send] = after_run_review(run_state(decided=None, incumbent=candidate()))
    assert send.node == "mapping"
    assert after_run_review(run_state(decided=None, incumbent=None)) == "confirm"
    assert after_run_review(run_state(decided=None, outcome="any")) == after_confirm(run_state()) == "report"


def test_after_search():
    assert after_search(stage_state(searching=True, draft=candidate())) == "judge"
    assert after_search(stage_state(searching=False)) == "profile"
    assert after_search(stage_state(searching=False, settings=BROKE)) == "settle"


@pytest.mark.parametrize(
    ("plan", "node"),
    [(Plan(worth_it=True, change="c"), "code"), (Plan(worth_it=False, why="fast"), "settle"), (None, "settle")],
)
def test_after_profile(plan, node):
    assert after_profile(stage_state(plan=plan)) == node


@pytest.mark.parametrize(
    ("changes", "node"),
    [
        ({"draft": candidate()}, "judge"),
        ({"draft": None, "stopped": "never submitted"}, "settle"),
        ({"draft": candidate(), "stopped": "out of budget"}, "settle"),
    ],
)
def test_after_code(changes, node):
    assert after_code(stage_state(**changes)) == node


@pytest.mark.parametrize(
    ("changes", "node"),
    [
        ({"draft": candidate(), "round": 1}, "profile"),  # next try
        ({"draft": candidate(), "round": MAPPING.rounds}, "settle"),
        ({"draft": BROKEN, "searching": True}, "search"),  # nobody repairs a point: the next one is taken
        ({"draft": BROKEN, "searching": True, "settings": BROKE}, "settle"),
        ({"draft": candidate(), "searching": False, "round": 0}, "profile"),  # a point costs no round
        ({"draft": BROKEN, "repair": 1}, "debug"),
        ({"draft": BROKEN, "repair": 1, "settings": BROKE}, "settle"),
        ({"draft": BROKEN, "round": 1, "incumbent": None}, "code"),  # a seed that cannot be repaired is drafted anew
    ],
)
def test_after_judge(changes, node):
    assert after_judge(stage_state(**changes)) == node


def test_after_debug():
    assert after_debug(stage_state(diagnosis=Diagnosis(cause="c", fix="f"))) == "code"
    assert after_debug(stage_state()) == "abandon"
    assert after_debug(stage_state(stopped="out of budget")) == "settle"


def test_a_draft_that_nobody_can_mend_costs_its_round_and_no_more():
    given_up = {**stage_state(draft=BROKEN, repair=1), **abandon(stage_state(draft=BROKEN, repair=1))}
    assert given_up["round"] == 1
    assert given_up["draft"] is None
    assert next_round(given_up) == "profile"


def test_each_seed_has_a_structure_of_its_own():
    sends = seeds(run_state(settings=Settings(seeds=3)))
    assert [send.arg["structure"] for send in sends] == ["one_pass", "two_pass", "split"]
    assert [send.arg["branch"] for send in sends] == ["seed-1", "seed-2", "seed-3"]


def test_with_an_llm_the_expert_offers_a_seed_too():
    sends = seeds(run_state(settings=Settings(model="openai:m", seeds=1)))
    assert [(send.arg["branch"], send.arg["settings"].model) for send in sends] == [
        ("seed-1", "openai:m"),
        ("seed-expert", "rulebook"),
    ]


def test_nothing_to_write_goes_straight_on():
    assert seeds(run_state(workload=WORKLOAD.model_copy(update={"structures": ()}))) == "choose"


def test_tuning_needs_an_incumbent_and_a_budget():
    route = enter(MAPPING)
    assert route(run_state(incumbent=None)) == "confirm"
    assert route(run_state(incumbent=candidate(), settings=BROKE)) == "confirm"
    [send] = route(run_state(incumbent=candidate()))
    assert send.node == "mapping"


def test_a_stage_sees_the_ledger_but_no_other_stages_attempts():
    [send] = enter(MAPPING)(run_state(incumbent=candidate(), attempts=("anything",)))
    assert "attempts" not in send.arg
    assert send.arg["history"] == ()


def test_caps_count_what_was_spent_before_the_stage_and_in_it():
    spend = Usage(by_agent={"a": Spend(calls=100)})
    assert exhausted(stage_state(spent=spend)) is None
    assert "model calls" in exhausted(stage_state(spent=spend, usage=spend))
