"""Another provider than OpenAI through LangChain's own package for it, over HTTP."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from pydantic import ConfigDict, Field

from egg.agents.backbone import chat_model, check_backbone
from egg.agents.build import build_code_agent
from egg.state.backbone import Protocol, Sampling
from egg.state.errors import UserError
from egg.state.run import AgentState
from egg.state.settings import Settings
from tests.agents.anthropic_server import AnthropicServer, call, text
from tests.agents.scripted import KERNEL, Scripted

SUBMIT = call("submit_kernel", source=KERNEL, rationale="r")


@pytest.fixture
def anthropic(monkeypatch: pytest.MonkeyPatch) -> Iterator[AnthropicServer]:
    pytest.importorskip("langchain_anthropic")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "good")
    running = AnthropicServer()
    yield running
    running.close()


def run(server: AnthropicServer, state: AgentState, *replies: Any, **settings: Any) -> dict[str, Any]:
    server.replies, server.requests = list(replies), []
    folder = Path(state["run_dir"]) / str(len(list(Path(state["run_dir"]).glob("*"))))
    folder.mkdir(parents=True)
    asked = Settings(model="anthropic:large", base_url=server.url, **settings)
    return build_code_agent().invoke({**state, "run_dir": str(folder), "settings": asked})


def test_an_agent_at_work(anthropic: AnthropicServer, state: AgentState) -> None:
    faults = [(429, "rate_limit_error", "slow down"), (529, "overloaded_error", "too much")]
    result = run(anthropic, state, *faults, [], [call("rm_rf"), "tool_use"], [SUBMIT, "tool_use"])
    assert result["draft"].source == KERNEL
    bill = result["usage"].by_agent["seed-1/code"]
    assert (bill.calls, bill.retries, bill.input_tokens) == (3, 2, 150)
    sampling = Sampling(temperature=1.0, effort="high", max_output=4000)
    run(anthropic, state, [SUBMIT, "tool_use"], sampling=sampling)
    (asked,) = anthropic.requests
    assert (asked["temperature"], asked["max_tokens"]) == (1.0, 4000)
    assert asked["output_config"]["effort"] == "high"


def test_its_faults_mean_the_same(anthropic: AnthropicServer, state: AgentState) -> None:
    refused = run(anthropic, state, *[[text("I will not."), "refusal"]] * 2)
    assert refused["stopped"] == "the model declines: I will not."
    too_long = [(400, "invalid_request_error", "prompt is too long: 300000 tokens > 200000 maximum")] * 2
    assert "longer than large can read" in run(anthropic, state, *too_long)["stopped"]
    half = call("submit_kernel", source=KERNEL, rationale="r")
    assert run(anthropic, state, [half, "max_tokens"], [SUBMIT, "tool_use"])["usage"].total.calls == 2
    with pytest.raises(UserError, match="refused the key"):
        run(anthropic, state, (401, "authentication_error", "bad key"))
    with pytest.raises(UserError, match="does not know large"):
        run(anthropic, state, (404, "not_found_error", "model: large"))
    with pytest.raises(UserError, match="refuses --max-output 9999999: max_tokens: 9999999 > 8192"):
        fault = (400, "invalid_request_error", "max_tokens: 9999999 > 8192")
        run(anthropic, state, fault, sampling=Sampling(max_output=9999999))


def test_the_text_protocol(anthropic: AnthropicServer, state: AgentState) -> None:
    block = f'```tool\n{{"name": "submit_kernel", "arguments": {{"rationale": "r"}}}}\n```\n```python\n{KERNEL}```'
    assert run(anthropic, state, [text(block)], protocol=Protocol.TEXT)["draft"].source == KERNEL
    assert "tools" not in anthropic.requests[0]


@pytest.mark.parametrize(
    ("model", "sampling", "says"),
    [
        ("anthropic:large", Sampling(effort="silly"), "cannot be set up: reasoning_effort"),
        ("nobody:model", Sampling(), "Unsupported provider"),
        ("groq:model", Sampling(), "pip install langchain-groq"),
        ("openai:", Sampling(), "unknown model"),
    ],
)
def test_what_cannot_be_set_up_is_one_line(
    anthropic: AnthropicServer, model: str, sampling: Sampling, says: str
) -> None:
    with pytest.raises(UserError, match=says) as caught:
        check_backbone(Settings(model=model, sampling=sampling))
    assert "\n" not in str(caught.value)


def test_a_missing_key_is_seen_before_the_first_call(
    anthropic: AnthropicServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(UserError, match="set ANTHROPIC_API_KEY"):
        check_backbone(Settings(model="anthropic:large"))


def test_one_client_serves_all_calls_of_a_role_with_a_key(
    anthropic: AnthropicServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for settings in (Settings(model="anthropic:large"), Settings(model="openai:tiny", base_url="http://x/v1")):
        first = chat_model(settings, "code")
        assert chat_model(settings, "code") is first
        assert chat_model(settings, "debug") is not first
        monkeypatch.setenv(f"{settings.model.partition(':')[0].upper()}_API_KEY", "another")
        assert chat_model(settings, "code") is not first


class Strict(Scripted):
    """A provider's class that leaves time-outs to its HTTP client and takes nothing that it does not know."""

    model_config = ConfigDict(extra="forbid")
    script: list[AIMessage] = []
    model: str
    client_kwargs: dict[str, Any] = {}


class Loose(Scripted):
    """One that has neither, and drops what it is given."""

    script: list[AIMessage] = []
    model: str
    retries: int = Field(6, alias="max_retries")


def test_a_class_is_given_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain")
    monkeypatch.setitem(sys.modules, "langchain_upstage", SimpleNamespace(ChatUpstage=Strict))
    monkeypatch.setitem(sys.modules, "langchain_baseten", SimpleNamespace(ChatBaseten=Loose))
    strict, loose = (chat_model(Settings(model=f"{name}:small"), "code") for name in ("upstage", "baseten"))
    assert isinstance(strict, Strict) and strict.client_kwargs == {"timeout": 600.0}
    assert isinstance(loose, Loose) and loose.retries == 0
    assert strict.tags == loose.tags == ["code"]


def test_without_langchain_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)  # as if it were not there
    with pytest.raises(UserError, match="pip install langchain langchain-google-genai"):
        chat_model(Settings(model="google_genai:model"), "code")
