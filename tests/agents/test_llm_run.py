"""A whole run with a model behind HTTP, and the same run again from its exchange log."""

import re
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from egg.graph.app import build_graph
from egg.state.ledger import Verb
from tests.agents.openai_server import OpenAIServer

PROBLEM = Path(__file__).parents[2] / "evals" / "problems" / "bias_silu_gate.py"


def think(body: dict[str, Any]) -> dict[str, Any]:
    """What a modest model would answer: a skeleton, a comment added to it, no plans."""
    tools = {tool["function"]["name"] for tool in body["tools"]}
    if "not_worth_it" in tools:
        return {"calls": [("not_worth_it", {"why": "memory-bound already"})]}
    if "no_fix" in tools:
        return {"calls": [("no_fix", {"why": "no idea"})]}
    last = body["messages"][-1]
    if last["role"] == "user":
        return {"calls": [("expert_skeleton", {})]}
    source = re.search(r"```python\n(.*)```", last["content"], re.DOTALL)
    if source:
        mine = source.group(1) + "# by the model\n"
        return {"calls": [("compile_kernel", {"source": mine})]}
    name = last["content"].split()[1]
    return {"calls": [("submit_kernel", {"source": name, "rationale": "the skeleton will do"})]}


@pytest.mark.slow
def test_a_run_with_a_model_over_http(server: OpenAIServer, tmp_path: Path) -> None:
    server.think = think
    request = {"problem_file": str(PROBLEM), "model": "openai:tiny", "base_url": server.url, "seeds": 1}
    graph = build_graph(InMemorySaver())
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": 200}
    end = graph.invoke({**request, "run_dir": str(tmp_path / "run")}, config)
    assert end["outcome"].correct
    assert end["outcome"].kernel
    by_agent = end["usage"].by_agent
    assert by_agent["seed-1/code"].calls == 3
    assert by_agent["seed-1/code"].input_tokens == 300
    assert by_agent["seed-expert/code"].input_tokens == 0
    drafts = {attempt.origin: attempt.status for attempt in end["attempts"]}
    assert drafts["seed-1"] == "ok"
    paid = len(server.requests)
    again = graph.invoke({**request, "run_dir": str(tmp_path / "run")}, {**config, "configurable": {"thread_id": "u"}})
    assert len(server.requests) == paid, "every answer was in the exchange log"
    assert again["outcome"].kernel == end["outcome"].kernel


@pytest.mark.slow
def test_a_provider_that_is_down_kills_its_seed_and_not_the_run(
    server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("egg.agents.provider._backoff", lambda state: 0.0)
    server.think = lambda body: {"status": 500}
    request = {"problem_file": str(PROBLEM), "model": "openai:tiny", "base_url": server.url, "seeds": 1}
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": 200}
    end = build_graph(InMemorySaver()).invoke({**request, "run_dir": str(tmp_path / "run"), "search": False}, config)
    ledger = {decision.stage: decision for decision in end["ledger"]}
    assert ledger["seed-1"].verb == Verb.FAILED
    assert "the model provider failed: HTTP 500" in ledger["seed-1"].why
    assert ledger["choose"].kernel == ledger["seed-expert"].kernel == end["outcome"].kernel
    assert all("provider failed" in ledger[stage].why for stage in ("mapping", "tiling", "memory"))
    assert len(server.requests) == 4 * 5


def think_in_text(body: dict[str, Any]) -> dict[str, Any]:
    """What a small model tuned on kernels would answer, which was never taught to call tools: code, and no more."""
    assert "tools" not in body
    system, *_, last = (message["content"] for message in body["messages"])
    if "code agent" not in system:
        name = "not_worth_it" if "profile agent" in system else "no_fix"
        return {"text": f'```tool\n{{"name": "{name}", "arguments": {{"why": "no idea"}}}}\n```'}
    source = re.search(r"^Result of expert_skeleton:.*```python\n(.*)```", last, re.DOTALL)
    if source is None:
        return {"text": '```tool\n{"name": "expert_skeleton", "arguments": {}}\n```'}
    return {"text": f"As the skeleton has it.\n\n```python\n{source.group(1)}# by a small model\n```"}


@pytest.mark.slow
def test_a_run_with_a_model_that_calls_no_tools(server: OpenAIServer, tmp_path: Path) -> None:
    server.think = think_in_text
    request = {"problem_file": str(PROBLEM), "model": "openai:tiny", "base_url": server.url, "seeds": 1}
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": 200}
    graph = build_graph(InMemorySaver())
    given = {**request, "protocol": "text", "run_dir": str(tmp_path / "run"), "search": False}
    end = graph.invoke(given, config)
    assert end["outcome"].kernel
    assert end["usage"].by_agent["seed-1/code"].calls == 2
    mine = [attempt for attempt in end["attempts"] if attempt.origin == "seed-1"]
    assert [attempt.status for attempt in mine] == ["ok"]
    source = (tmp_path / "run" / "kernels" / f"{mine[0].id}.py").read_text()
    assert source.endswith("# by a small model\n")
