"""Golden prompts: what a model is told, to the letter. `EGG_UPDATE_GOLDEN=1 pytest` writes them anew."""

import os
from pathlib import Path
from typing import cast

import pytest
from jinja2 import UndefinedError

from egg.agents.brief import brief, facts
from egg.agents.insight import insight
from egg.agents.prompting import render
from egg.agents.sources import expanded
from egg.state.backbone import Role
from egg.state.candidate import Attempt, Candidate
from egg.state.evaluation import Evaluation, Launch, StaticProfile, Status
from egg.state.ledger import Decision, Review, Verb
from egg.state.pause import Action
from egg.state.plan import Diagnosis, Plan
from egg.state.run import AgentState
from tests.agents.scripted import KERNEL

GOLDEN = Path(__file__).parent / "golden"


def repairing(state: AgentState) -> AgentState:
    """The same stage, a kernel in force and a broken change to it later."""
    launch = Launch(
        kernel="r0_layer_norm_kernel",
        grid=(4096,),
        warps=4,
        stages=1,
        registers=64,
        spills=0,
        shared_bytes=128,
        occupancy=0.5,
        limiter="registers",
        waves=3.9,
        bytes=33_562_624,
        estimate_ms=0.01,
    )
    profile = StaticProfile(target="sm_90", launches=(launch,), estimate_ms=0.011)
    good = Evaluation(status=Status.OK, mode="interpreter", profile=profile)
    bad = Evaluation(status=Status.MISMATCH, mode="interpreter", feedback="output 0: 3 % wrong, all in the last tile")
    kernel = Candidate(source=KERNEL, origin="seed-1", structure="fused_one_pass", evaluation=good)
    draft = kernel.model_copy(update={"source": f"{KERNEL}# draft\n", "evaluation": bad})
    decision = Decision(
        step=1,
        stage="seed-1",
        verb=Verb.KEPT,
        what="fused",
        why="correct",
        evidence="0.011 ms estimated",
        kernel=kernel.id,
    )
    attempts = tuple(
        Attempt(id=f"{n}", origin=origin, number=n, status="ok", rank_ms=0.011 * (n + 1), change=f"change {n}")
        for n, origin in ((1, "seed-1"), (0, "seed-1"), (2, "seed-2"))
    )
    return AgentState(
        **{
            **state,
            "incumbent": kernel,
            "draft": draft,
            "repair": 1,
            "history": (decision,),
            "attempts": attempts,
            "plan": Plan(worth_it=True, change="two rows a program", why="fewer waves", bottleneck="waves"),
            "diagnosis": Diagnosis(cause="no mask", fix="mask the tail", edits={"r0": {"tiling": {"BLOCK": 64}}}),
        }
    )


@pytest.mark.parametrize("moment", ["first", "repair"])
@pytest.mark.parametrize("role", ["code", "profile", "debug"])
def test_prompt_is_the_golden_one(state: AgentState, role: str, moment: str) -> None:
    given = state if moment == "first" else repairing(state)
    messages = expanded({**given, "messages": []}, brief(cast(Role, role), given, insight(given)))
    text = "\n\n=====\n\n".join(message.text for message in messages) + "\n"
    path = GOLDEN / f"{role}_{moment}.txt"
    if os.environ.get("EGG_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


def test_a_misspelt_variable_fails(state: AgentState) -> None:
    with pytest.raises(UndefinedError):
        render("nudge", silent=True, submits=())


def test_another_branchs_attempts_are_not_told(state: AgentState) -> None:
    human = brief("code", repairing(state))[1]
    assert facts("code", repairing(state))["tried"] == ["change 0", "change 1"]
    assert "change 2" not in human.text


@pytest.mark.parametrize("role", ["code", "profile", "debug"])
def test_what_a_person_says_is_told_as_a_persons(state: AgentState, role: str) -> None:
    given = repairing(state)
    (decision,) = given["history"]
    edited = decision.model_copy(update={"review": Review(action=Action.EDIT, was="split")})
    told = brief(cast(Role, role), AgentState(**{**given, "hints": ("mind the tail",), "history": (edited,)}))[1].text
    assert "A person who watches this run says to you:\n- mind the tail\n" in told
    assert "fused (0.011 ms estimated); edited by a person, was: split" in told
    approved = decision.model_copy(update={"review": Review(action=Action.APPROVE)})
    same = brief(cast(Role, role), AgentState(**{**given, "history": (approved,)}))
    assert same == brief(cast(Role, role), given), "or an answer given before would be asked for again"
