"""What an answer is billed, and which requests without an answer a provider may bill."""

import socket
from pathlib import Path
from typing import Any

import pytest
from langchain_core.exceptions import ModelTimeoutError
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool

from egg.agents.backbone import chat_model
from egg.agents.billing import Request
from egg.agents.faults import ProviderFault
from egg.agents.provider import ask
from egg.agents.tokens import counted
from egg.state.backbone import RULEBOOK, Backbone
from egg.state.errors import UserError
from egg.state.settings import Settings
from egg.state.usage import Spend
from tests.agents.openai_server import OpenAIServer

KNOWN = Backbone(model="openai:gpt-5.1")
MESSAGES = [SystemMessage("You count."), HumanMessage("Count to ten, please.")]
NOW = {"headers": {"Retry-After": "0"}}
GOOD = {"text": "one two three"}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr("egg.agents.provider._backoff", lambda state: 0.0)
    monkeypatch.setattr("egg.agents.backbone.SECONDS", 0.5)


@tool
def look(where: str) -> str:
    """Look."""
    return where


def answer(**metadata: Any) -> AIMessage:
    return AIMessage("one two three", **metadata)


def bill(backbone: Backbone, given: AIMessage) -> Spend:
    return Request(MESSAGES, [look], backbone).succeeds(given, 1.5)


def test_every_kind_of_token_has_its_price() -> None:
    usage = {
        "input_tokens": 10_000,
        "output_tokens": 2000,
        "total_tokens": 12_000,
        "input_token_details": {"cache_read": 4000, "cache_creation": 1000},
        "output_token_details": {"reasoning": 1500},
    }
    spend = bill(KNOWN, answer(usage_metadata=usage))
    assert (spend.input_tokens, spend.cached_tokens, spend.written_tokens) == (10_000, 4000, 1000)
    assert (spend.output_tokens, spend.reasoning_tokens, spend.model_ms) == (2000, 1500, 1500)
    assert spend.usd == pytest.approx((6000 * 1.25 + 4000 * 0.125 + 2000 * 10) / 1e6)
    assert (spend.untold, spend.unpriced) == (0, 0)


def test_deepseek_says_in_its_own_words_what_was_cached() -> None:
    usage = {"input_tokens": 100, "output_tokens": 2, "total_tokens": 102}
    told = {"token_usage": {"prompt_cache_hit_tokens": 64}}
    assert bill(KNOWN, answer(usage_metadata=usage, response_metadata=told)).cached_tokens == 64


def test_a_server_that_does_not_count_is_counted_for() -> None:
    spend = bill(Backbone(model="openai:unheard-of"), answer())
    sent, own = counted(MESSAGES, [look], answer())
    assert (spend.untold, spend.unpriced, spend.input_tokens, spend.sent_tokens) == (1, 1, sent, sent)
    assert 0 < spend.output_tokens < own == spend.own_tokens < sent


def test_the_rulebook_is_free_and_its_context_is_counted_all_the_same() -> None:
    spend = bill(Backbone(model=RULEBOOK), answer())
    assert (spend.calls, spend.free, spend.tokens, spend.money) == (1, 1, 0, "")
    assert spend.sent_tokens > 0


@pytest.mark.parametrize(
    ("fault", "unsure"),
    [
        ({"status": 429, **NOW}, 0),
        ({"status": 500, **NOW}, 0),
        ({"status": 503, **NOW}, 0),
        ({"status": 504, **NOW}, 1),
        ({"delay": 1.0, **GOOD}, 1),
        ({"cut": True, **GOOD}, 1),
        ({"body": {"id": "c", "object": "chat.completion", "choices": []}}, 1),
    ],
    ids=["429", "500", "503", "504", "time-out", "cut", "nothing in it"],
)
def test_requests_that_a_provider_may_bill_are_told_apart(
    server: OpenAIServer, fault: dict[str, Any], unsure: int
) -> None:
    settings = Settings(model="openai:tiny", base_url=server.url)
    model, backbone = chat_model(settings, "code").bind_tools([look]), settings.backbone("code")
    server.replies = [fault, GOOD]
    _, spend = ask(model, MESSAGES, backbone, tools=[look])
    assert (spend.calls, spend.retries, spend.failed, spend.unsure) == (1, 1, 1, unsure)
    assert spend.unsure_tokens == unsure * counted(MESSAGES, [look], None).sent


def test_a_fault_that_lasts_carries_its_bill(server: OpenAIServer) -> None:
    settings = Settings(model="openai:tiny", base_url=server.url)
    server.think = lambda body: {"status": 504, **NOW}
    with pytest.raises(ProviderFault) as fault:
        ask(chat_model(settings, "code"), MESSAGES, settings.backbone("code"))
    spend = fault.value.spend
    assert (spend.calls, spend.retries, spend.failed, spend.unsure) == (0, 4, 5, 5)
    assert spend.unsure_tokens == 5 * counted(MESSAGES, [], None).sent


def test_a_fault_that_ends_the_run_says_what_may_be_billed(server: OpenAIServer) -> None:
    settings = Settings(model="openai:tiny", base_url=server.url)
    server.replies = [{"status": 504, **NOW}, {"delay": 1.0, **GOOD}, {"status": 401}]
    with pytest.raises(UserError, match=r"refused the key.* \(2 requests without an answer may be billed\)"):
        ask(chat_model(settings, "code"), MESSAGES, settings.backbone("code"))


def test_what_was_never_sent_is_not_billed(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = Settings(model="openai:gpt-5.1", base_url=f"http://127.0.0.1:{port}/v1")
    requests: list[Request] = []
    monkeypatch.setattr("egg.agents.provider.Request", lambda *a: requests.append(Request(*a)) or requests[-1])
    with pytest.raises(UserError, match="cannot reach .* and the network$"):
        ask(chat_model(settings, "code"), MESSAGES, settings.backbone("code"))
    assert requests[0].failed.failed > 0 and requests[0].failed.unsure == 0


def test_what_failed_requests_may_have_cost_is_priced() -> None:
    request = Request(MESSAGES, [look], KNOWN)
    request.fails(TimeoutError())
    assert request.failed == Spend(failed=1), "no client says so: that is a mistake of ours"
    request.fails(ModelTimeoutError("late"))
    sent = counted(MESSAGES, [look], None).sent
    assert (request.failed.unsure, request.failed.unsure_tokens) == (1, sent)
    assert request.failed.unsure_nano_usd == sent * 1250
