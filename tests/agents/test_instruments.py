"""The rulebook driving the real instruments on a real problem, and an LLM's tools on what it made."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from langchain_core.messages import ToolMessage

from egg.agents.build import build_code_agent, build_debug_agent, build_profile_agent
from egg.state.candidate import Attempt, Candidate
from egg.state.evaluation import Evaluation, Status
from egg.state.run import AgentState
from egg.state.settings import Policy
from egg.tools.device import detect_device
from egg.tools.problem import load_problem
from egg.tools.store import Store
from egg.tools.timing.measure import measure_baseline
from egg.tools.workload import analyse
from tests.agents.scripted import Scripted, call

PROBLEM = Path(__file__).parents[2] / "evals" / "problems" / "layernorm_gelu.py"


@pytest.fixture
def real(state: AgentState) -> AgentState:
    """The seed's brief with everything settled by the instruments."""
    store, device, problem = Store(state["run_dir"]), detect_device("sm_90"), load_problem(str(PROBLEM))
    workload = analyse(problem, Policy.STOCK, store)
    baseline = measure_baseline(problem, workload, device, Policy.STOCK, store)
    changes = {"problem": problem, "workload": workload, "device": device, "baseline": baseline}
    return AgentState(**{**state, **changes, "structure": workload.structures[0]})


@pytest.fixture
def drafted(real: AgentState) -> AgentState:
    """The same with the rulebook's first draft in force."""
    result = build_code_agent().invoke(real)
    assert result["stopped"] is None
    assert result["usage"].total.calls == 2
    return AgentState(**{**real, "incumbent": result["draft"]})


def test_the_rulebook_drafts_a_kernel_in_two_calls(drafted: AgentState) -> None:
    kernel = drafted["incumbent"]
    assert kernel is not None
    assert "@triton.jit" in kernel.source
    assert "class ModelNew" in kernel.source
    assert kernel.structure == drafted["workload"].structures[0]


def test_the_rulebook_plans_in_two_calls_and_never_the_same_twice(drafted: AgentState) -> None:
    for group in ("structure", "mapping", "tiling", "memory"):
        spec = drafted["spec"].model_copy(update={"group": group, "name": group})
        result = asyncio.run(build_profile_agent().ainvoke({**drafted, "spec": spec}))
        assert result["usage"].total.calls == 2
        plan = result["plan"]
        if plan.worth_it:
            assert plan.edits
            tried = (Attempt(id="0", origin=drafted["branch"], status="ok", change=plan.change),)
            again = build_profile_agent().invoke({**drafted, "spec": spec, "attempts": tried})["plan"]
            assert again.change != plan.change
            result = build_code_agent().invoke({**drafted, "spec": spec, "plan": plan})
            assert result["draft"].source != drafted["incumbent"].source  # type: ignore[union-attr]
        else:
            assert plan.why


@pytest.mark.slow
def test_an_llms_tools_work_on_it(drafted: AgentState, scripted: Callable[..., Scripted]) -> None:
    kernel = drafted["incumbent"]
    assert kernel is not None
    model = scripted(
        call("expert_skeleton", structure="no such structure"),
        call("check_kernel", source=kernel.id),
        call("compile_kernel", source=kernel.source.replace("tl.load", "tl.laod")),
        call("submit_kernel", source=kernel.id, rationale="as it is"),
    )
    result = build_code_agent(lambda settings, role: model).invoke(drafted)
    assert result["draft"].source == kernel.source
    refused, checked, broken = (m for m in model.seen[-1] if isinstance(m, ToolMessage))
    assert "there are: " in refused.text
    assert checked.artifact["status"] == "ok", checked.text
    assert broken.artifact["status"] == "compile_error"
    assert "laod" in broken.text


@pytest.mark.slow
def test_debug_probes_a_wrong_kernel(drafted: AgentState, scripted: Callable[..., Scripted]) -> None:
    kernel = drafted["incumbent"]
    assert kernel is not None
    wrong = kernel.source.replace("0.5 *", "0.25 *")
    evaluation = Evaluation(
        status=Status.MISMATCH, mode="interpreter", feedback="output 0 is half of what it should be"
    )
    draft = Candidate(source=wrong, origin="seed-1", structure=kernel.structure, evaluation=evaluation)
    state = {**drafted, "draft": draft, "repair": 1}
    model = scripted(call("probe", kind="ones"), call("submit_diagnosis", cause="half", fix="0.5"))
    assert build_debug_agent(lambda settings, role: model).invoke(state)["diagnosis"].fix == "0.5"
    assert model.seen[-1][-1].text
    by_rule = build_debug_agent().invoke({**state, "incumbent": None, "round": 1})
    assert by_rule["stopped"] is None
