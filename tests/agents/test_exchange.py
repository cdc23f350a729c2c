"""The exchange log: what is in it, what is not, and that older folders are still read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from egg.agents.build import build_code_agent
from egg.agents.exchange import Exchange, ExchangeLog
from egg.state.run import AgentState
from egg.state.settings import Settings
from tests.agents.openai_server import OpenAIServer
from tests.agents.scripted import Scripted, call

Script = Callable[..., Scripted]
SUBMIT = call("submit_kernel", source="class ModelNew: pass", rationale="because")
SECRET = "sk-proj-abcdefghijklmnop0123456789"


def lines(state: AgentState) -> list[dict[str, Any]]:
    text = (Path(state["run_dir"]) / "exchanges.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_a_conversation_is_told_once_line_by_line(scripted: Script, state: AgentState) -> None:
    model = scripted(call("guide", topic="accuracy"), SUBMIT)
    build_code_agent(lambda settings, role: model).invoke({**state, "settings": Settings(model="openai:tiny")})
    first, second = lines(state)
    assert [message["type"] for message in first["asked"]] == ["system", "human"]
    assert [message["type"] for message in second["asked"]] == ["tool"]
    assert (first["number"], second["number"]) == (0, 1)
    assert first["model"] == "openai:tiny"
    assert "brief" not in first["asked"][1] | first["asked"][0], "no provider was sent it"
    assert "artifact" not in second["asked"][0], "nor this"
    assert second["answer"]["data"]["tool_calls"][0]["name"] == "submit_kernel"
    assert set(first["tools"]) == {"expert_skeleton", "guide", "compile_kernel", "check_kernel", "submit_kernel"}
    assert second["spend"]["calls"] == 1


def test_no_secret_is_kept(scripted: Script, state: AgentState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a key that looks like nothing")
    answer = AIMessage(f"{SECRET}; a key that looks like nothing", tool_calls=SUBMIT.tool_calls)
    answer.response_metadata["headers"] = {"authorization": "whatever it says"}
    settings = Settings(model="openai:tiny", base_url="http://me:hunter2@box/v1")
    model = scripted(answer)
    build_code_agent(lambda settings, role: model).invoke({**state, "settings": settings})
    text = (Path(state["run_dir"]) / "exchanges.jsonl").read_text()
    assert not [secret for secret in (SECRET, "looks like nothing", "hunter2", "whatever it says") if secret in text]


def test_why_there_was_no_answer_is_kept_and_asked_again(
    scripted: Script, server: OpenAIServer, state: AgentState
) -> None:
    server.think = lambda body: {"status": 400, "error": {"message": f"not today, {SECRET}"}}
    given = {**state, "settings": Settings(model="openai:tiny", base_url=server.url)}
    stopped = build_code_agent().invoke(given)
    assert stopped["stopped"].startswith("the model provider failed: ")
    (line,) = lines(state)
    assert line["answer"] is None
    assert line["stopped"] == stopped["stopped"].replace(SECRET, "(removed)")
    assert "not today" in line["stopped"]
    up = scripted(SUBMIT)
    assert build_code_agent(lambda settings, role: up).invoke(given)["draft"]
    assert len(up.seen) == 1
    assert [bool(line["answer"]) for line in lines(state)] == [False, True]
    assert ExchangeLog(state["run_dir"]).models() == {"openai:tiny": 1}


def test_folders_of_files_are_still_read(scripted: Script, state: AgentState) -> None:
    first = scripted(SUBMIT)
    draft = build_code_agent(lambda settings, role: first).invoke(state)["draft"]
    log = ExchangeLog(state["run_dir"])
    (kept,) = log.all()
    older = Path(state["run_dir"]) / "exchanges"
    older.mkdir()
    fields = {"model", "role", "branch", "asked", "answer", "spend"}  # all that there were
    (older / f"{kept.key}.json").write_text(kept.model_dump_json(include=fields))
    log.path.unlink()
    again = scripted()
    assert build_code_agent(lambda settings, role: again).invoke(state)["draft"] == draft
    assert ExchangeLog(state["run_dir"]).usage().total.calls == 1


def test_every_line_is_a_record_of_its_own(scripted: Script, state: AgentState) -> None:
    model = scripted(SUBMIT)
    build_code_agent(lambda settings, role: model).invoke(state)
    (line,) = lines(state)
    assert Exchange.model_validate(line).place == ("seed-1", "code", 0, 0, 0)
