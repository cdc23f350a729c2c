"""What a profile agent is told of bottlenecks: by the brief, and by the tool that looks at the GPU."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from egg.agents.build import build_code_agent, build_profile_agent
from egg.agents.toolbox import counting
from egg.state.bottleneck import BottleneckKind
from egg.state.candidate import Candidate
from egg.state.evaluation import Evaluation, StaticProfile, Status
from egg.state.ownership import KernelTime, Ownership
from egg.state.profile import Profile
from egg.state.run import AgentState
from egg.tools.errors import CandidateError
from tests.agents.scripted import KERNEL, Scripted, call
from tests.tools.test_bottleneck import MEASURED, STREAM, kernel
from tests.tools.test_place import profiled

Script = Callable[..., Scripted]
STOP = call("not_worth_it", why="at the ceiling")


@pytest.fixture
def traced(state: AgentState) -> AgentState:
    """A stage whose kernel in force was traced on a GPU: half the copy's rate, for most of the time."""
    static = StaticProfile(target="sm_90", launches=(STREAM,), estimate_ms=0.3)
    kernels = (
        KernelTime(name=STREAM.kernel, ms=0.45, calls=1, own=True),
        KernelTime(name="ampere_sgemm", ms=0.05, calls=1, own=False, kind="library"),
    )
    own = Ownership(label="triton", share=0.9, own_ms=0.45, other_ms=0.05, kernels=kernels, how="cupti")
    verdict = Evaluation(status=Status.OK, mode="gpu", profile=static, ownership=own)
    memory = state["spec"].model_copy(update={"name": "memory", "group": "memory"})
    return {
        **state,
        "spec": memory,
        "incumbent": Candidate(source=KERNEL, origin="s", structure="s", evaluation=verdict),
    }


def conversation(model: Scripted, state: AgentState) -> list[Any]:
    assert build_profile_agent(lambda settings, role: model).invoke(state)["plan"]
    return model.seen[-1]


def test_the_brief_tells_what_the_verdict_knows(scripted: Script, traced: AgentState) -> None:
    told = conversation(scripted(STOP), traced)[1].text
    assert "GPU time of a pass, measured, without hardware counters: 0.5 ms." in told
    assert "stream: 0.45 ms, 90%, at 46 % of the memory ceiling" in told
    assert "- ampere_sgemm (not Triton of this file): 0.05 ms, 10%" in told
    assert "stream: memory latency: its bytes over device memory, of the ceiling 46.3 % (≤ 50 %); stage memory" in told


@pytest.mark.parametrize(("rate", "done"), [(4.3e12, False), (2.3e12, True)])
def test_the_code_agent_is_advised_by_what_this_gpu_reaches(
    rate: float, done: bool, scripted: Script, traced: AgentState, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = MEASURED.model_copy(update={"copy_rate": rate, "read_rate": rate})
    monkeypatch.setattr("egg.agents.insight.ceilings", lambda device: measured)
    model = scripted(call("submit_kernel", source=KERNEL, rationale="r"))
    assert build_code_agent(lambda settings, role: model).invoke(traced)["draft"]
    assert ("at-the-ceiling" in model.seen[0][1].text) is done


def test_counters_of_the_stage_are_shown(scripted: Script, traced: AgentState, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = kernel(STREAM, 0.45, counters={"stall_memory": 61.0, "warps_active": 80.0, "grid_size": 8448.0})
    seen: list[dict[str, Any]] = []

    def look(problem: Any, source: str, *_: Any, **given: Any) -> Profile:
        seen.append({"source": source, **given})
        return profiled(counted).model_copy(update={"source": "counters"})

    monkeypatch.setattr(counting, "profile_forward", look)
    answer = conversation(scripted(call("hardware_counters"), STOP), traced)[-1]
    assert isinstance(answer, ToolMessage) and seen == [{"source": KERNEL}]
    assert "measured, with hardware counters" in answer.text
    assert "stall_memory 61 %" in answer.text and "warps_active 80 %" in answer.text
    assert "grid_size" not in answer.text  # the mapping stage's
    assert "warps that wait for memory 61 % (≥ 20 %); stage memory" in answer.text
    (bottleneck,) = answer.artifact["bottlenecks"]
    assert bottleneck["kind"] == BottleneckKind.MEMORY_LATENCY and answer.artifact["source"] == "counters"


def test_a_kernel_that_cannot_run_is_told(
    scripted: Script, traced: AgentState, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Profile:
        raise CandidateError(Status.COMPILE_ERROR, "line 3: no such name")

    monkeypatch.setattr(counting, "profile_forward", refuse)
    answer = conversation(scripted(call("hardware_counters"), STOP), traced)[-1]
    assert "compile_error: line 3" in answer.text and not answer.artifact["ok"]


def test_there_has_to_be_a_kernel(scripted: Script, state: AgentState) -> None:
    answer = conversation(scripted(call("hardware_counters"), STOP), state)[-1]
    assert answer.status == "error" and "no kernel in force" in answer.text
