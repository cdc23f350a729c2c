"""`egg models check` over HTTP: what works is said to work, and what does not, not."""

import json
import re
from typing import Any

import pytest

from egg.agents.examine import examine_model
from egg.state.backbone import Protocol, Sampling
from egg.state.errors import UserError
from egg.state.settings import Settings
from tests.agents.openai_server import OpenAIServer
from tests.cli.make import egg


def able(body: dict[str, Any]) -> dict[str, Any]:
    """A model that can do everything."""
    if "response_format" in body:
        return {"text": '{"city": "Paris"}'}
    said = body["messages"][-1]["content"]
    if "tools" in body:
        return {"calls": [("add", {"left": 17, "right": 25})]}
    if "Call the tool" in said:
        return {"text": 'Gladly.\n```tool\n{"name": "add", "arguments": {"left": 17, "right": 25}}\n```'}
    return {"text": "one two three"}


def without_tools(body: dict[str, Any]) -> dict[str, Any]:
    """A small model on a server that was not told how it calls tools."""
    if "tools" in body:
        message = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
        return {"status": 400, "error": {"message": message}}
    if "response_format" in body:
        return {"text": "Paris, of course."}
    return able(body)


def states(server: OpenAIServer, **options: Any) -> dict[str, str]:
    findings = examine_model(Settings(model="openai:tiny", base_url=server.url, **options))
    return {finding.what: finding.state for finding in findings}


def test_a_model_that_can_do_everything(server: OpenAIServer) -> None:
    server.think = able
    found = states(server)
    assert found == dict.fromkeys(("tool calls", "streaming", "structured output", "token counts", "use it"), "ok")
    assert len(server.requests) == 3
    assert states(server, protocol=Protocol.TEXT)["text protocol"] == "ok"


def test_a_model_without_tools_is_shown_the_text_protocol(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server.think, server.counts, server.streams = without_tools, False, False
    assert egg(monkeypatch, "models", "check", "--model", "openai:tiny", "--base-url", server.url, "--json") == 0
    findings = {finding["what"]: finding for finding in json.loads(capsys.readouterr().out)}
    limited = {what for what, finding in findings.items() if finding["state"] == "limited"}
    assert limited == {"tool calls", "streaming", "structured output", "token counts"}
    assert findings["text protocol"]["state"] == "ok"
    assert re.fullmatch(r"egg optimize PROBLEM --model openai:tiny .* --protocol text", findings["use it"]["told"])
    assert len(server.requests) == 4


def test_a_model_that_only_talks_will_not_do(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server.think = lambda body: {"text": "I am a poet."}
    assert egg(monkeypatch, "models", "check", "--model", "openai:tiny", "--base-url", server.url) == 1
    out = capsys.readouterr().out
    assert "answered without a call: I am a poet." in out
    assert "another model" in out and "egg optimize" not in out


def test_a_wrong_key_is_one_line(server: OpenAIServer) -> None:
    server.key = "another"
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        states(server)


def test_an_option_that_is_refused_is_one_line_whatever_the_provider_says_of_it(server: OpenAIServer) -> None:
    refused = {"message": "temperature: not by this --protocol", "param": "temperature"}
    server.think = lambda body: {"status": 400, "error": refused}
    with pytest.raises(UserError, match=r"refuses --temperature 0\.2"):
        states(server, sampling=Sampling(temperature=0.2))


def test_an_answer_in_one_part_is_streamed_too(server: OpenAIServer) -> None:
    server.think = lambda body: {"text": "123"} if "tools" not in body and "response_format" not in body else able(body)
    told = {finding.what: finding for finding in examine_model(Settings(model="openai:tiny", base_url=server.url))}
    assert told["streaming"].state == "ok" and "in 1 part:" in told["streaming"].told


def test_the_rulebook_needs_no_check() -> None:
    (finding,) = examine_model(Settings())
    assert finding.state == "ok"
