"""The agents' loops with a scripted model: what they submit, and every way a model can misbehave."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from egg.agents.brief import brief
from egg.agents.build import build_code_agent, build_debug_agent, build_profile_agent
from egg.agents.exchange import ExchangeLog
from egg.agents.loop import ANSWERS
from egg.agents.offering import offered
from egg.agents.toolbox.counting import hardware_counters
from egg.agents.toolbox.kernels import static_profile
from egg.agents.toolbox.submit import change_does_not_pay, submit_kernel
from egg.state.candidate import Candidate, kernel_id
from egg.state.evaluation import Evaluation, Status
from egg.state.plan import Diagnosis, Plan
from egg.state.run import AgentState
from egg.state.settings import Limits, Settings
from egg.state.usage import Spend, Usage
from tests.agents.openai_server import OpenAIServer
from tests.agents.scripted import KERNEL, Scripted, call

SUBMIT = call("submit_kernel", source=KERNEL, rationale="because")
Script = Callable[..., Scripted]


def code(model: Scripted, state: AgentState) -> dict[str, Any]:
    return build_code_agent(lambda settings, role: model).invoke(state)


def test_the_code_agent_submits_a_candidate(scripted: Script, state: AgentState) -> None:
    result = code(scripted(SUBMIT), state)
    draft = Candidate(source=KERNEL, origin="seed-1", structure="fused_one_pass", rationale="because")
    assert result["draft"] == draft
    assert result["stopped"] is None
    assert result["usage"].by_agent["seed-1/code"].calls == 1


def test_a_kernel_is_submitted_by_the_id_of_what_was_sent_before(scripted: Script, state: AgentState) -> None:
    broken = call("submit_kernel", source=KERNEL.replace("ModelNew", "Model"), rationale="r")
    fenced = call("submit_kernel", source=f"```python\n{KERNEL}```", rationale="r")
    fenced.tool_calls[0]["args"].pop("rationale")
    by_id = call("submit_kernel", source=kernel_id(KERNEL), rationale="r")
    model = scripted(broken, fenced, by_id)
    assert code(model, state)["draft"].source == KERNEL
    refused, wrong = (m.text for m in model.seen[-1] if isinstance(m, ToolMessage))
    assert refused == "the file defines no class ModelNew"
    assert wrong == "rationale: Field required"


def test_a_kernel_comes_with_the_numbers_that_a_machine_may_choose(scripted: Script, state: AgentState) -> None:
    source = f"BLOCK = 128\nMETA = dict(num_stages=2)\n{KERNEL}"
    unknown = call("submit_kernel", source=source, rationale="r", search_space={"WIDTH": [1, 2]})
    empty = call("submit_kernel", source=source, rationale="r", search_space={"BLOCK": []})
    right = {"BLOCK": [64, 128, 64], "META.num_stages": [2, 3]}
    model = scripted(unknown, empty, call("submit_kernel", source=source, rationale="r", search_space=right))
    space = code(model, state)["draft"].space
    refused, without = (m.text for m in model.seen[-1] if isinstance(m, ToolMessage))
    assert refused == "search_space: no WIDTH in the kernel; it has BLOCK, META.num_stages"
    assert without == "search_space: no values for BLOCK"
    assert [(p.name, p.values, p.group) for p in space.parameters] == [
        ("BLOCK", (64, 128), "tiling"),
        ("META.num_stages", (2, 3), "memory"),
    ]


def test_an_unknown_id_is_explained(scripted: Script, state: AgentState) -> None:
    model = scripted(call("submit_kernel", source="0123456789ab", rationale="r"), SUBMIT)
    assert code(model, state)["draft"].source == KERNEL
    assert "send the whole file" in model.seen[-1][-1].text


def test_syntax_errors_are_refused_before_the_judge(scripted: Script, state: AgentState) -> None:
    model = scripted(call("submit_kernel", source="def (:\n", rationale="r"), SUBMIT)
    assert code(model, state)["draft"]
    assert "line 1 is not Python" in model.seen[-1][-1].text


def test_two_submissions_at_once_count_as_the_first(scripted: Script, state: AgentState) -> None:
    twice = call("submit_kernel", source=KERNEL, rationale="first")
    twice.tool_calls.append({**SUBMIT.tool_calls[0], "args": {"source": KERNEL + "# 2\n", "rationale": "second"}})
    assert code(scripted(twice), state)["draft"].rationale == "first"


def test_an_unknown_tool_and_silence_are_answered(scripted: Script, state: AgentState) -> None:
    model = scripted(call("rm_rf"), AIMessage(""), AIMessage("I think it is done."), SUBMIT)
    assert code(model, state)["draft"]
    assert "not a valid tool" in model.seen[1][-1].text
    for conversation in model.seen[2:]:
        assert isinstance(conversation[-1], HumanMessage)
        assert "no tool call" in conversation[-1].text


def test_malformed_arguments_are_answered(scripted: Script, state: AgentState) -> None:
    malformed = AIMessage(
        "",
        invalid_tool_calls=[
            {"name": "submit_kernel", "args": '{"source": "impo', "id": "x", "error": None, "type": "invalid_tool_call"}
        ],
    )
    model = scripted(malformed, SUBMIT)
    assert code(model, state)["draft"]
    complaint = model.seen[-1][-1]
    assert isinstance(complaint, ToolMessage)
    assert complaint.tool_call_id == "x"
    assert "not a JSON object" in complaint.text


def test_a_model_that_never_submits_is_stopped(scripted: Script, state: AgentState) -> None:
    model = scripted(*[call("guide", topic="accuracy")] * ANSWERS)
    result = code(model, {**state, "draft": Candidate(source="old", origin="seed-1", structure="s")})
    assert result["draft"] is None
    assert result["stopped"] == f"the code agent submitted nothing in {ANSWERS} answers"
    assert "1 answer left" in model.seen[-1][-1].text
    assert result["usage"].total.calls == ANSWERS


@pytest.mark.parametrize(
    ("limits", "why"),
    [(Limits(calls=3), "model calls (3)"), (Limits(tokens=10), "tokens (10)"), (Limits(minutes=0.001), "wall time")],
)
def test_a_cap_that_is_reached_stops_before_the_call(
    scripted: Script, state: AgentState, limits: Limits, why: str
) -> None:
    spent = Usage(by_agent={"seed-1/profile": Spend(calls=3, input_tokens=9, output_tokens=1)})
    model = scripted(SUBMIT)
    result = code(model, {**state, "settings": Settings(limits=limits), "spent": spent, "elapsed_ms": 1000})
    assert result["draft"] is None
    assert why in result["stopped"]
    assert not model.seen


def test_what_other_branches_spend_counts(scripted: Script, state: AgentState) -> None:
    state = {**state, "settings": Settings(limits=Limits(calls=1))}  # type: ignore[typeddict-item]
    assert code(scripted(SUBMIT), {**state, "branch": "seed-2"})["draft"]
    assert "model calls (1)" in code(scripted(SUBMIT), state)["stopped"]
    assert code(scripted(), {**state, "branch": "seed-2"})["draft"], (
        "a resumed run gets the answer that used up the cap"
    )


def test_an_agent_reads_what_a_person_told_its_stage(scripted: Script, state: AgentState) -> None:
    model = scripted(SUBMIT)
    code(model, AgentState(**{**state, "hints": ("mind the tail",)}))
    assert "A person who watches this run says to you:\n- mind the tail" in model.seen[0][1].text


def test_the_profile_agent_submits_a_plan(scripted: Script, state: AgentState) -> None:
    plan = {"bottleneck": "memory", "change": "BLOCK 1024", "expected_gain": 0.2, "why": "fewer waves"}
    model = scripted(call("submit_plan", **{**plan, "expected_gain": 20}), call("submit_plan", **plan))
    result = build_profile_agent(lambda settings, role: model).invoke(state)
    assert result["plan"] == Plan(worth_it=True, **plan)
    assert "fraction" in model.seen[-1][-1].text


def test_the_profile_agent_may_decline(scripted: Script, state: AgentState) -> None:
    model = scripted(call("not_worth_it", why="at the roofline"))
    result = build_profile_agent(lambda settings, role: model).invoke(state)
    assert result["plan"] == Plan(worth_it=False, why="at the roofline")


def test_the_debug_agent_submits_a_diagnosis_or_gives_up(scripted: Script, state: AgentState) -> None:
    broken = {**state, "draft": Candidate(source=KERNEL, origin="seed-1", structure="s"), "repair": 0}
    edits = {"r0": {"tiling": {"BLOCK": 64}}}
    model = scripted(call("submit_diagnosis", cause="mask", fix="mask the tail", edits=edits))
    result = build_debug_agent(lambda settings, role: model).invoke(broken)
    assert result["diagnosis"] == Diagnosis(cause="mask", fix="mask the tail", edits=edits)
    model = scripted(call("no_fix", why="hopeless"))
    result = build_debug_agent(lambda settings, role: model).invoke({**broken, "round": 1})
    assert result["diagnosis"] is None


def test_an_answer_that_was_paid_for_is_not_paid_twice(scripted: Script, state: AgentState) -> None:
    first, again = scripted(call("guide", topic="accuracy"), SUBMIT), scripted()
    assert code(first, state) == code(again, state)
    assert (len(first.seen), len(again.seen)) == (2, 0)
    run_dir = Path(state["run_dir"])
    journal = [json.loads(line) for line in (run_dir / "journal.jsonl").read_text().splitlines()]
    assert len([line for line in journal if line["kind"] == "model"]) == 2
    assert len((run_dir / "exchanges.jsonl").read_text().splitlines()) == 2
    another_round = scripted(SUBMIT)
    code(another_round, {**state, "round": 1})
    assert len(another_round.seen) == 1


async def _stream(model: Scripted, state: AgentState) -> list[Any]:
    agent = build_code_agent(lambda settings, role: model)
    return [part async for part in agent.astream(state, stream_mode=["messages", "values"])]


def test_streamed_and_asynchronous(scripted: Script, state: AgentState) -> None:
    import asyncio

    model = scripted(SUBMIT)
    parts = asyncio.run(_stream(model, state))
    chunks = [part[0] for mode, part in parts if mode == "messages"]
    assert any(getattr(chunk, "tool_call_chunks", None) for chunk in chunks)
    assert parts[-1][1]["draft"].source == KERNEL


@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
def test_over_http(server: OpenAIServer, state: AgentState, streamed: bool) -> None:
    server.replies = [
        {"calls": [("submit_kernel", '{"source": "impor')]},
        {"calls": [("nothing_like_it", {})]},
        {"calls": [("submit_kernel", {"source": KERNEL})]},
        {"text": ""},
        {"status": 429, "headers": {"Retry-After": "0"}},
        {"calls": [("submit_kernel", {"source": kernel_id(KERNEL), "rationale": "r"})]},
    ]
    settings = Settings(model="openai:tiny", base_url=server.url)
    agent = build_code_agent()
    mode = ["messages", "values"] if streamed else ["values"]
    *_, (_, result) = (p for p in agent.stream({**state, "settings": settings}, stream_mode=mode) if p[0] == "values")
    assert result["draft"].source == KERNEL
    assert result["usage"].by_agent["seed-1/code"].input_tokens == 500
    assert bool(server.requests[0].get("stream")) is streamed
    assert set(server.requests[0]["messages"][0]) == {"role", "content"}
    roles = [message["role"] for message in server.requests[-1]["messages"]]
    assert roles == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]


def test_a_provider_that_stays_down_ends_the_stage(server: OpenAIServer, state: AgentState) -> None:
    server.replies = [{"status": 500, "headers": {"Retry-After": "0"}}] * 5
    settings = Settings(model="openai:tiny", base_url=server.url)
    result = build_code_agent().invoke({**state, "settings": settings})
    assert result["draft"] is None
    assert result["stopped"].startswith("the model provider failed")


def planned(state: AgentState, **changes: Any) -> AgentState:
    kernel = Candidate(source=KERNEL, origin="seed-1", structure="fused_one_pass")
    plan = Plan(worth_it=True, change="two rows a program", why="fewer waves")
    return AgentState(**{**state, "incumbent": kernel, "plan": plan, **changes})


def test_the_code_agent_may_decline_a_change_that_its_compile_shows_to_be_worse(
    scripted: Script, state: AgentState
) -> None:
    model = scripted(call("change_does_not_pay", why="it spills 512 bytes"))
    result = code(model, planned(state))
    assert result["draft"] is None and result["stopped"] is None
    assert result["plan"] == Plan(worth_it=False, why="it spills 512 bytes")
    assert "decline it with `change_does_not_pay`" in model.seen[0][1].text
    assert code(scripted(SUBMIT), planned(state, branch="seed-2"))["plan"].worth_it


def test_there_is_nothing_to_decline_in_a_first_draft_or_a_repair(scripted: Script, state: AgentState) -> None:
    broken = Evaluation(status=Status.MISMATCH, mode="interpreter", feedback="wrong")
    draft = Candidate(source="x", origin="seed-1", structure="s", evaluation=broken)
    for given in (state, planned(state, repair=1, draft=draft)):
        model = scripted(call("change_does_not_pay", why="too hard"), SUBMIT)
        assert code(model, given)["draft"]
        assert "no planned change to decline" in model.seen[-1][-1].text
        assert "change_does_not_pay" not in model.seen[0][1].text


def test_edits_of_a_kernel_without_decisions_are_refused(scripted: Script, state: AgentState) -> None:
    model = scripted(call("expert_skeleton", edits={"r0": {"structure": {"name": "x"}}}), SUBMIT)
    assert code(model, planned(state))["draft"]
    assert "has no `# egg:` line to edit" in model.seen[-1][-1].text
    assert kernel_id(KERNEL) in model.seen[-1][-1].text


def test_tools_are_offered_where_they_are_of_use(state: AgentState) -> None:
    tools = (static_profile, hardware_counters, submit_kernel, change_does_not_pay)
    here = AgentState(**{**state, "device": state["device"].model_copy(update={"present": True})})
    assert offered(tools, state) == (static_profile, submit_kernel)
    assert offered(tools, here) == (static_profile, hardware_counters, submit_kernel)
    assert offered(tools, planned(state)) == (static_profile, submit_kernel, change_does_not_pay)
    assert "hardware_counters" in brief("profile", here)[0].text
    assert "hardware_counters" not in brief("profile", state)[0].text


def test_the_model_sees_the_offered_tools_alone(scripted: Script, state: AgentState) -> None:
    code(scripted(SUBMIT), state)
    (first,) = ExchangeLog(state["run_dir"]).all()
    assert "change_does_not_pay" not in first.tools and "submit_kernel" in first.tools
    code(scripted(SUBMIT), planned(state, branch="seed-2"))
    assert "change_does_not_pay" in ExchangeLog(state["run_dir"]).all()[-1].tools
