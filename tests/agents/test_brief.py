"""What a brief tells only where it holds."""

import pytest

from egg.agents.brief import POLICIES, brief, other_seeds
from egg.agents.insight import insight
from egg.state.bottleneck import Bottleneck, BottleneckKind, Evidence
from egg.state.evaluation import Accuracy
from egg.state.plan import Plan
from egg.state.run import AgentState
from egg.state.settings import Policy, Settings
from egg.tools.expert.heading import headed
from tests.agents.scripted import KERNEL
from tests.agents.test_prompts import repairing
from tests.agents.test_relief import SPEC

EDITS = {"r0": {"tiling": {"BLOCK": 64}}}


def planned(state: AgentState) -> AgentState:
    """A change is planned to the kernel in force, and nothing is broken."""
    plan = Plan(worth_it=True, change="use fused_two_pass", why="fewer registers", edits=EDITS)
    return AgentState(**{**repairing(state), "draft": None, "repair": 0, "diagnosis": None, "plan": plan})


def of_library(state: AgentState) -> AgentState:
    """The same with the library's kernels in play."""
    kernels = {name: state.get(name) for name in ("incumbent", "draft")}
    written = {n: k.model_copy(update={"source": headed(SPEC, KERNEL)}) for n, k in kernels.items() if k}
    return AgentState(**{**state, **written})


def test_edits_are_asked_for_only_where_the_kernel_has_decisions(state: AgentState) -> None:
    change, fix = "give the change as edits", "give the fix as edits"
    given = repairing(state)
    assert change in brief("profile", of_library(planned(state)))[1].text
    assert change not in brief("profile", planned(state))[1].text
    assert fix in brief("debug", of_library(given))[1].text and fix not in brief("debug", given)[1].text
    for at in (planned(state), given):
        assert "As edits: " in brief("code", of_library(at))[1].text and "As edits: " not in brief("code", at)[1].text


def test_the_structure_asked_for_is_told_until_a_plan_asks_for_a_change(state: AgentState) -> None:
    asked = "Structure asked for: fused_one_pass."
    assert asked in brief("code", state)[1].text and asked not in brief("code", planned(state))[1].text


def test_a_seed_is_told_what_the_others_write(state: AgentState) -> None:
    assert other_seeds(state) == {"seed-2": "fused_two_pass"}
    with_model = AgentState(**{**state, "settings": Settings(model="openai:tiny"), "branch": "seed-2"})
    assert other_seeds(with_model) == {"seed-1": "fused_one_pass", "the expert library's own seed": "fused_one_pass"}
    told = "at the same time: fused_one_pass (seed-1), fused_one_pass (the expert library's own seed)."
    assert told in brief("profile", AgentState(**{**planned(with_model)}))[1].text
    tuning = state["spec"].model_copy(update={"group": "tiling"})
    assert other_seeds(AgentState(**{**state, "spec": tuning})) == {}


@pytest.mark.parametrize("policy", Policy)
def test_a_policy_is_told_with_its_meaning(state: AgentState, policy: Policy) -> None:
    given = AgentState(**{**state, "settings": Settings(policy=policy)})
    for role in ("code", "profile", "debug"):
        assert f"`{policy}` ({POLICIES[policy]})" in brief(role, given)[0].text


def test_the_profile_agent_knows_how_much_of_the_error_budget_is_used(state: AgentState) -> None:
    given = planned(state)
    kernel = given["incumbent"]
    assert kernel and kernel.evaluation
    pairs = (("normal#1", 2e-7, 1e-5), ("uniform#1", 6e-6, 1e-5))
    accuracy = tuple(Accuracy(case=case, error=e, reference_error=e, budget=b) for case, e, b in pairs)
    judged = kernel.evaluation.model_copy(update={"accuracy": accuracy})
    given["incumbent"] = kernel.model_copy(update={"evaluation": judged})
    assert "it uses most on uniform#1: 6e-06 of 1e-05." in brief("profile", given)[1].text


def test_the_bottlenecks_of_a_launch_that_takes_no_time_are_not_told(state: AgentState) -> None:
    given = planned(state)
    found = insight(given)
    assert found
    evidence = (Evidence(figure="f", value=91.0, side="at least", threshold=90.0, unit="%"),)
    held = tuple(
        Bottleneck(kind=BottleneckKind.SPILLS, kernel=name, evidence=evidence, stage="tiling", share=share)
        for name, share in (("long", 0.98), ("worth_a_line", 0.02), ("short", 0.019))
    )
    text = brief("profile", given, found.model_copy(update={"bottlenecks": held}))[1].text
    assert "long: spills" in text and "worth_a_line: spills" in text and "short: spills" not in text
    brief_of_short = brief("profile", given, found.model_copy(update={"bottlenecks": held[2:]}))[1].text
    assert brief_of_short == brief("profile", given, found.model_copy(update={"bottlenecks": ()}))[1].text
