"""The text protocol: what a model writes, what it is shown, and a whole conversation over HTTP."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from egg.agents.build import build_code_agent, build_debug_agent, build_profile_agent
from egg.agents.presenting import shortened
from egg.agents.sources import fenced, source_of
from egg.agents.text_protocol import as_text, parse
from egg.agents.toolbox.kernels import compile_kernel
from egg.agents.toolbox.probing import guide
from egg.agents.toolbox.submit import submit_kernel, submit_plan
from egg.state.backbone import Protocol
from egg.state.candidate import kernel_id
from egg.state.run import AgentState
from egg.state.settings import Settings
from tests.agents.openai_server import OpenAIServer
from tests.agents.scripted import KERNEL

GOLDEN = Path(__file__).parent / "golden" / "text_protocol.txt"
SCHEMAS = [convert_to_openai_tool(tool)["function"] for tool in (guide, compile_kernel, submit_kernel, submit_plan)]
CALL = '```tool\n{"name": "compile_kernel", "arguments": {}}\n```'
CODE = f"```python\n{KERNEL}```"


def called(text: str) -> list[tuple[str, dict[str, Any]]]:
    return [(call["name"], call["args"]) for call in parse(text, SCHEMAS).calls]


@pytest.mark.parametrize(
    "text",
    [
        f"Let us see.\n{CALL}\n{CODE}",
        f"{CODE}\n\nNow compile it:\n{CALL}",
        f"<think>```tool\n{{}}\n``` no</think>{CALL}\n\n{CODE}\nDone.",
        f'<tool_call>\n{{"name": "compile_kernel", "arguments": {{}}}}\n</tool_call>\n{CODE}',
        f'```json\n{{"tool": "compile_kernel", "parameters": "{{}}"}}\n```\n{CODE}',
        f"{CALL}\n```python\n{KERNEL}",
    ],
    ids=["after", "before", "thoughts", "tags", "json", "no closing fence"],
)
def test_a_call_with_a_file(text: str) -> None:
    assert called(text) == [("compile_kernel", {"source": KERNEL})]


@pytest.mark.parametrize(
    "note", ["    ```\n    x @ w\n    ```\n", "```\nx @ w\n```\n"], ids=["indented", "at the margin"]
)
def test_a_kernel_may_have_fences_in_its_docstring(note: str, state: AgentState) -> None:
    kernel = f'"""What it does:\n\n{note}"""\n\n{KERNEL}'
    calls: list[ToolCall] = [{"name": "compile_kernel", "args": {"source": kernel}, "id": "1", "type": "tool_call"}]
    shown = as_text([AIMessage("", tool_calls=calls)], SCHEMAS)[-1].text
    assert called(shown) == [("compile_kernel", {"source": kernel})]
    assert source_of(state, fenced(kernel)) == kernel
    if note[0] == " ":
        assert called(f"{CALL}\n```python\n{kernel}```\nDone.") == [("compile_kernel", {"source": kernel})]
        assert called(f"  ```python\n{kernel}  ```\n{CALL}") == [("compile_kernel", {"source": kernel})]
    else:
        assert called(f"{CALL}\n````python\n{kernel}````") == [("compile_kernel", {"source": kernel})]


def test_a_span_of_code_is_no_block() -> None:
    assert called(f"```x``` is short for:\n{CALL}\n{CODE}") == [("compile_kernel", {"source": KERNEL})]


def test_a_call_by_id_and_one_without_a_file() -> None:
    assert called('```tool\n{"name": "compile_kernel", "arguments": {"source": "0123456789ab"}}\n```\n' + CODE) == [
        ("compile_kernel", {"source": "0123456789ab"})
    ]
    assert called('```tool\n{"name": "guide", "arguments": {"topic": "accuracy"}}\n```') == [
        ("guide", {"topic": "accuracy"})
    ]
    assert called('An example: ```json\n{}\n```\n```json\n{"BLOCK": 4}\n```') == []


def test_code_alone_is_handed_in() -> None:
    assert called(f"Fused into one pass.\n{CODE}") == [
        ("submit_kernel", {"rationale": "Fused into one pass.", "source": KERNEL})
    ]
    assert called("```python\nprint('hello')\n```") == []
    assert parse(CODE, SCHEMAS[3:]).calls == []


@pytest.mark.parametrize(
    ("block", "name"),
    [
        ('{"name": "guide", "arguments": {"topic": "accuracy"', "guide"),
        ('{"name": "guide", "arguments": [1]}', "guide"),
        ("guide(topic='accuracy')", None),
        ("[]", None),
    ],
)
def test_a_malformed_call_is_not_lost(block: str, name: str | None) -> None:
    parsed = parse(f"```tool\n{block}\n```", SCHEMAS)
    assert parsed.calls == []
    assert [call["name"] for call in parsed.invalid] == [name]


def test_a_tool_that_is_not_there_is_still_a_call() -> None:
    assert called('```tool\n{"name": "rm_rf", "arguments": {}}\n```') == [("rm_rf", {})]


def test_what_a_model_writes_comes_back_as_it_was_meant() -> None:
    args = {"source": KERNEL, "rationale": "r"}
    calls = [{"name": "submit_kernel", "args": args, "id": "1", "type": "tool_call"}]
    shown = as_text([HumanMessage("go"), AIMessage("I am done.", tool_calls=calls)], SCHEMAS)
    parsed = parse(shown[-1].text, SCHEMAS)
    assert parsed.prose == "I am done."
    assert [(call["name"], call["args"]) for call in parsed.calls] == [("submit_kernel", args)]


def test_a_long_malformed_call_is_left_out_of_a_shortened_conversation() -> None:
    calls = parse(f"```tool\n{{{'x' * 500}\n```", SCHEMAS).invalid
    old, latest = (AIMessage("", invalid_tool_calls=calls) for _ in range(2))
    shown = as_text(shortened([HumanMessage("go"), old, HumanMessage("no"), latest]), SCHEMAS)
    assert ["xxx" in message.text for message in shown if message.type == "ai"] == [False, True]


def test_the_conversation_is_the_golden_one() -> None:
    call = {"name": "guide", "args": {"topic": "accuracy"}, "id": "1", "type": "tool_call"}
    messages = [
        SystemMessage("You write kernels."),
        HumanMessage("The brief."),
        AIMessage("", tool_calls=[call]),
        ToolMessage("Accumulate in float32.", name="guide", tool_call_id="1"),
        HumanMessage("2 answers left."),
    ]
    shown = as_text(messages, SCHEMAS)
    assert [message.type for message in shown] == ["system", "human", "ai", "human"]
    text = "\n\n=====\n\n".join(message.text for message in shown) + "\n"
    if os.environ.get("EGG_UPDATE_GOLDEN"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()


@pytest.mark.parametrize("mode", [["values"], ["messages", "values"]], ids=["plain", "streamed"])
def test_over_http(server: OpenAIServer, state: AgentState, mode: list[str]) -> None:
    settings = Settings(model="openai:tiny", base_url=server.url, protocol=Protocol.TEXT)
    by_id = json.dumps({"rationale": "r", "source": kernel_id(KERNEL)})
    server.replies = [
        {"text": '```tool\n{"name": "submit_kernel", "arguments": {"rationale": "r"\n```'},
        {"text": '```tool\n{"name": "rm_rf", "arguments": {}}\n```'},
        {"text": "I have finished."},
        {"text": f'```tool\n{{"name": "submit_kernel", "arguments": {{}}}}\n```\n{CODE}'},
        {"text": f'```tool\n{{"name": "submit_kernel", "arguments": {by_id}}}\n```'},
    ]
    agent = build_code_agent()
    *_, (_, result) = (p for p in agent.stream({**state, "settings": settings}, stream_mode=mode) if p[0] == "values")
    assert result["draft"].source == KERNEL
    assert result["usage"].by_agent["seed-1/code"].input_tokens == 500
    told = [request["messages"][-1]["content"] for request in server.requests[1:]]
    expected = ("not a JSON object", "not a valid tool", "no tool call", "Field required")
    for words, seen in zip(expected, told, strict=True):
        assert words in seen
    assert server.requests[1]["messages"][-2]["content"] == server.replies[0]["text"], "it sees what it wrote"
    for request in server.requests:
        assert "tools" not in request
        roles = [message["role"] for message in request["messages"]]
        assert roles[:2] == ["system", "user"] and roles[2::2] == ["assistant"] * (len(roles[2:]) // 2)

    for build, field, text in (
        (build_profile_agent, "plan", '{"name": "not_worth_it", "arguments": {"why": "at the ceiling"}}'),
        (build_debug_agent, "diagnosis", '{"name": "submit_diagnosis", "arguments": {"cause": "c", "fix": "f"}}'),
    ):
        server.replies, server.requests = [{"text": f"```tool\n{text}\n```"}], []
        assert build().invoke({**state, "settings": settings})[field]
