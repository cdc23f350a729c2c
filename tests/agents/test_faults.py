"""Every fault of a provider and every misbehaviour of a model, in each agent, over HTTP, plain and streamed."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from egg.agents.build import build_code_agent, build_debug_agent, build_profile_agent
from egg.agents.loop import ANSWERS
from egg.state.backbone import Sampling
from egg.state.candidate import Candidate
from egg.state.errors import UserError
from egg.state.evaluation import Evaluation, Status
from egg.state.run import AgentState
from egg.state.settings import Settings
from tests.agents.openai_server import OpenAIServer
from tests.agents.scripted import KERNEL

Reply = dict[str, Any]
BUILD: dict[str, Callable[[], Any]] = {
    "code": build_code_agent,
    "profile": build_profile_agent,
    "debug": build_debug_agent,
}
FIELD = {"code": "draft", "profile": "plan", "debug": "diagnosis"}
PLAN = {"bottleneck": "memory", "change": "BLOCK 1024", "expected_gain": 0.2, "why": "fewer waves"}
SUBMIT: dict[str, tuple[str, dict[str, Any]]] = {
    "code": ("submit_kernel", {"source": KERNEL, "rationale": "the first"}),
    "profile": ("submit_plan", PLAN),
    "debug": ("submit_diagnosis", {"cause": "no mask", "fix": "mask the tail"}),
}
OTHER: dict[str, tuple[str, dict[str, Any]]] = {
    "code": ("submit_kernel", {"source": f"{KERNEL}# 2\n", "rationale": "the second"}),
    "profile": ("not_worth_it", {"why": "at the ceiling"}),
    "debug": ("no_fix", {"why": "hopeless"}),
}


@pytest.fixture(params=list(BUILD))
def role(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["plain", "streamed"])
def mode(request: pytest.FixtureRequest) -> list[str]:
    return ["values"] if request.param == "plain" else ["messages", "values"]


@pytest.fixture(scope="module")
def wire() -> Iterator[OpenAIServer]:
    running = OpenAIServer()
    yield running
    running.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "good")
    monkeypatch.setattr("egg.agents.provider._backoff", lambda state: 0.0)
    monkeypatch.setattr("egg.agents.backbone.SECONDS", 0.5)


def run(
    wire: OpenAIServer, state: AgentState, role: str, mode: list[str], *replies: Reply, **settings: Any
) -> dict[str, Any]:
    """The agent's last state after these replies. Each run has a folder of its own, or it would find its answers."""
    wire.replies, wire.requests = list(replies), []
    folder = Path(state["run_dir"])
    number = len(list(folder.glob("*"))) if folder.exists() else 0
    (folder / str(number)).mkdir(parents=True)
    verdict = Evaluation(status=Status.MISMATCH, mode="interpreter", feedback="the tail is wrong")
    broken = Candidate(source=KERNEL, origin="seed-1", structure="s", evaluation=verdict)
    given = {
        **state,
        **({"draft": broken, "repair": 1} if role == "debug" else {}),
        "run_dir": str(folder / str(number)),
        "settings": Settings(model="openai:tiny", base_url=wire.url, **settings),
    }
    result: dict[str, Any] = {}
    for kind, part in BUILD[role]().stream(given, stream_mode=mode):
        result = part if kind == "values" else result
    assert all(bool(request.get("stream")) is (len(mode) == 2) for request in wire.requests)
    return result


def submitted(role: str) -> Reply:
    return {"calls": [SUBMIT[role]]}


def _calls(role: str, args: Any) -> Reply:
    return {"calls": [(SUBMIT[role][0], args)]}


def test_a_transient_fault_is_asked_again(wire: OpenAIServer, state: AgentState, role: str, mode: list[str]) -> None:
    first: list[Reply] = [
        {"status": 429, "headers": {"Retry-After": "0"}},
        {"status": 429},
        {"status": 500},
        {"delay": 1.0, "text": "too late"},
    ]
    then: list[Reply] = [
        {"cut": True, "calls": [("guide", {"topic": "accuracy"})]},
        {"body": {"error": {"message": "upstream is down", "code": 502}}},
        {"body": {"id": "c", "object": "chat.completion", "choices": []}},
    ]
    between = {"calls": [("guide", {"topic": "no such"})]}
    result = run(wire, state, role, mode, *first, between, *then, submitted(role))
    assert result[FIELD[role]], result["stopped"]
    bill = result["usage"].by_agent[f"seed-1/{role}"]
    assert (bill.calls, bill.retries, bill.input_tokens) == (2, 7, 200)
    assert len(wire.requests) == 9


def test_a_bad_answer_is_answered(wire: OpenAIServer, state: AgentState, role: str, mode: list[str]) -> None:
    bad: list[tuple[Reply, str]] = [
        (_calls(role, '{"why": it is'), "not a JSON object"),
        ({"text": ""}, "no tool call"),
        (_calls(role, "[1, 2]"), "not a JSON object"),
        ({"refusal": "I cannot help with that."}, "no tool call"),
        ({**_calls(role, '{"why": "it'), "finish": "length"}, "cut off at the cap"),
        ({"text": "I would rather think about it.", "finish": "length"}, "cut off at the cap"),
        (_calls(role, {"colour": "red"}), "Field required"),
        ({"calls": [("rm_rf", {"path": "/"})]}, "not a valid tool"),
    ]
    result = run(wire, state, role, mode, *(reply for reply, _ in bad), submitted(role))
    assert result[FIELD[role]], result["stopped"]
    for (_, told), request in zip(bad, wire.requests[1:], strict=True):
        before, last = request["messages"][-2:]
        assert told in last["content"]
        assert len(last["content"]) < 600
        assert before["content"] or before["tool_calls"], "some servers refuse an empty answer"
        for call in before.get("tool_calls", ()):
            assert isinstance(json.loads(call["function"]["arguments"]), dict), "some servers parse it again"


def test_two_submissions_at_once_count_as_the_first(
    wire: OpenAIServer, state: AgentState, role: str, mode: list[str]
) -> None:
    result = run(wire, state, role, mode, {"calls": [SUBMIT[role], OTHER[role]]})
    answer = result[FIELD[role]]
    said = {"code": "rationale", "profile": "change", "debug": "cause"}[role]
    assert getattr(answer, said) in ("the first", "BLOCK 1024", "no mask")
    assert len(wire.requests) == 1


ENDS: dict[str, tuple[Reply, str, int]] = {
    "never submitting": ({"calls": [("guide", {"topic": "no such"})]}, "submitted nothing", ANSWERS),
    "always talking": ({"text": "Let me think."}, "called no tool", 4),
    "always refusing": ({"refusal": "I cannot help with that."}, "declines: I cannot help", 2),
    "always cut off": ({"text": "Hm", "finish": "length"}, "raise --max-output", 4),
    "500 and again": ({"status": 500}, "provider failed: HTTP 500", 5),
    "too long, even when shortened": (
        {"status": 400, "error": {"message": "maximum context length is 4096 tokens"}},
        "longer than tiny can read",
        2,
    ),
    "a request that is refused": (
        {"status": 400, "error": {"message": "message 3 is odd"}},
        "refused the request: message 3",
        1,
    ),
}


def test_what_lasts_ends_the_stage_with_a_reason(
    wire: OpenAIServer, state: AgentState, role: str, mode: list[str]
) -> None:
    for fault, (reply, why, requests) in ENDS.items():
        result = run(wire, state, role, mode, *[reply] * ANSWERS)
        assert result[FIELD[role]] is None, fault
        assert why in result["stopped"]
        assert "\n" not in result["stopped"]
        assert len(wire.requests) == requests, fault


def refused(message: str, param: str = "") -> Reply:
    return {"status": 400, "error": {"message": message, "param": param or None}}


PERMANENT: dict[str, tuple[Reply, dict[str, Any], str]] = {
    "a wrong key": ({"status": 401, "error": {"code": "invalid_api_key"}}, {}, "OPENAI_API_KEY"),
    "an unknown model": ({"status": 404}, {}, "--model"),
    "an empty account": ({"status": 429, "error": {"code": "insufficient_quota"}}, {}, "no credit"),
    "no tools": (refused('"auto" tool choice requires --tool-call-parser to be set'), {}, "--protocol text"),
    "no temperature": (
        refused("Unsupported value", "temperature"),
        {"sampling": Sampling(temperature=0.2)},
        "refuses --temperature 0.2",
    ),
    "no such effort": (
        refused("reasoning_effort: expected low or high"),
        {"sampling": Sampling(effort="silly")},
        "refuses --effort silly",
    ),
}


def test_what_the_user_can_mend_is_one_line(wire: OpenAIServer, state: AgentState, role: str, mode: list[str]) -> None:
    for reply, settings, says in PERMANENT.values():
        with pytest.raises(UserError, match=says) as caught:
            run(wire, state, role, mode, reply, **settings)
        assert "\n" not in str(caught.value)
        assert len(wire.requests) == 1


def test_half_a_kernel_is_not_taken_for_a_whole_one(wire: OpenAIServer, state: AgentState, mode: list[str]) -> None:
    """The client mends cut JSON in a stream: without care the first half of a file would be handed in."""
    half = '{"rationale": "r", "source": "class ModelNew:\\n    pass\\n\\ndef'
    for finish in ("length", "stop"):
        result = run(wire, state, "code", mode, {**_calls("code", half), "finish": finish}, submitted("code"))
        assert result["draft"].source == KERNEL


def test_a_stream_that_just_stops_is_asked_again(wire: OpenAIServer, state: AgentState, role: str) -> None:
    result = run(wire, state, role, ["messages", "values"], {**submitted(role), "endless": True}, submitted(role))
    assert result["usage"].by_agent[f"seed-1/{role}"].retries == 1


def test_a_long_conversation_is_shortened_once(wire: OpenAIServer, state: AgentState, mode: list[str]) -> None:
    long = f"{KERNEL}# {'x' * 2000}\n"
    replies = [
        {"calls": [("submit_kernel", {"source": long})]},
        {"calls": [("guide", {"topic": "no such"})]},
        {"status": 400, "error": {"message": "too long", "code": "context_length_exceeded"}},
        submitted("code"),
    ]
    result = run(wire, state, "code", mode, *replies)
    assert result["draft"].source == KERNEL
    before, after = (str(request["messages"]) for request in wire.requests[2:])
    assert "xxx" in before and "xxx" not in after
    assert "left out" in after


def test_code_that_is_no_code(wire: OpenAIServer, state: AgentState, mode: list[str]) -> None:
    prose = {"source": "I would tile it by rows.", "rationale": "r"}
    result = run(wire, state, "code", mode, {"calls": [("submit_kernel", prose)]}, submitted("code"))
    assert result["draft"].source == KERNEL
    assert "is not Python" in wire.requests[1]["messages"][-1]["content"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "tool"), [("code", "compile_kernel"), ("profile", "static_profile"), ("debug", "compile_kernel")]
)
def test_the_instruments_say_that_it_is_no_code(wire: OpenAIServer, state: AgentState, role: str, tool: str) -> None:
    call = {"calls": [(tool, {"source": "I would tile it by rows."})]}
    result = run(wire, state, role, ["values"], call, submitted(role))
    assert result[FIELD[role]]
    assert "syntax error" in wire.requests[1]["messages"][-1]["content"]


def test_a_wait_is_told_to_whoever_watches(wire: OpenAIServer, state: AgentState) -> None:
    wire.replies, wire.requests = [{"status": 503}, submitted("code")], []
    given = {**state, "settings": Settings(model="openai:tiny", base_url=wire.url)}
    told = list(build_code_agent().stream(given, stream_mode="custom"))
    assert told == [{"waits": "HTTP 503 from the model provider; asks again in 0 s (1 of 5)"}]
