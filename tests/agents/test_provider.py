"""The provider's faults, over real HTTP with the real client."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool

from egg.agents.backbone import chat_model, check_backbone
from egg.agents.faults import ProviderFault
from egg.agents.provider import ask
from egg.state.errors import UserError
from egg.state.settings import Settings
from tests.agents.openai_server import OpenAIServer

NOW = {"headers": {"Retry-After": "0"}}
GOOD = {"calls": [("look", {"where": "here"})]}


@tool
def look(where: str) -> str:
    """Look."""
    return where


def answer(server: OpenAIServer, streamed: bool) -> tuple[AIMessage, int]:
    settings = Settings(model="openai:tiny", base_url=server.url)
    model = chat_model(settings, "code")
    model.streaming = streamed  # type: ignore[attr-defined]
    message, spend = ask(model.bind_tools([look]), [HumanMessage("hi")], settings.backbone("code"))
    assert spend.calls == 1
    return message, spend.input_tokens + spend.output_tokens


@pytest.fixture(params=[False, True], ids=["plain", "streamed"])
def streamed(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_a_tool_call_comes_back_with_its_bill(server: OpenAIServer, streamed: bool) -> None:
    server.replies = [GOOD]
    message, tokens = answer(server, streamed)
    assert [(call["name"], call["args"]) for call in message.tool_calls] == [("look", {"where": "here"})]
    assert tokens == 107
    assert bool(server.requests[0].get("stream")) is streamed
    assert server.requests[0]["tools"][0]["function"]["name"] == "look"


@pytest.mark.parametrize(
    "fault",
    [{"status": 429, **NOW}, {"status": 500, **NOW}, {"status": 503, **NOW}, {"cut": True, **GOOD}],
    ids=["429", "500", "503", "cut"],
)
def test_a_transient_fault_is_retried_once_in_one_place(
    server: OpenAIServer, streamed: bool, fault: dict[str, object]
) -> None:
    server.replies = [fault, GOOD]
    message, _ = answer(server, streamed)
    assert message.tool_calls
    assert len(server.requests) == 2


def test_a_lasting_fault_ends_the_stage_not_the_run(server: OpenAIServer, streamed: bool) -> None:
    server.replies = [{"status": 500, **NOW}] * 5
    with pytest.raises(ProviderFault, match="500"):
        answer(server, streamed)
    assert len(server.requests) == 5


@pytest.mark.parametrize("choices", [["odd"], [{"index": 0, "message": {"role": "assistant", "tool_calls": ["odd"]}}]])
def test_an_answer_that_cannot_be_read_is_asked_for_again(server: OpenAIServer, choices: list[object]) -> None:
    odd = {"body": {"id": "c", "object": "chat.completion", "choices": choices}}
    server.replies = [odd, GOOD]
    message, _ = answer(server, streamed=False)
    assert message.tool_calls and len(server.requests) == 2


def test_ctrl_c_is_not_asked_again(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(response: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("egg.agents.openai_model._mark_lists", press)  # beneath langchain-openai's frames
    server.replies = [GOOD] * 5
    with pytest.raises(KeyboardInterrupt):
        answer(server, streamed=False)
    assert len(server.requests) == 1


def test_a_mistake_of_ours_is_no_fault_of_the_provider(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("egg.agents.openai_model.RAW", [])
    server.replies = [GOOD] * 5
    with pytest.raises(TypeError, match="unhashable"):
        answer(server, streamed=True)
    assert len(server.requests) == 1


def test_a_refused_request_is_not_repeated(server: OpenAIServer, streamed: bool) -> None:
    server.replies = [{"status": 400, "error": {"message": "no such parameter"}}]
    with pytest.raises(ProviderFault, match="no such parameter"):
        answer(server, streamed)
    assert len(server.requests) == 1


def test_a_wrong_key_is_for_the_user(server: OpenAIServer, streamed: bool) -> None:
    server.key = "another"
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        answer(server, streamed)


def test_an_empty_account_is_for_the_user_and_not_retried(server: OpenAIServer, streamed: bool) -> None:
    server.replies = [{"status": 429, "error": {"message": "quota", "code": "insufficient_quota"}}]
    with pytest.raises(UserError, match="no credit"):
        answer(server, streamed)
    assert len(server.requests) == 1


def test_an_unknown_model_is_for_the_user(server: OpenAIServer, streamed: bool) -> None:
    server.replies = [{"status": 404, "error": {"message": "no model"}}]
    with pytest.raises(UserError, match="--model"):
        answer(server, streamed)


def test_a_server_that_speaks_otherwise_is_for_the_user(server: OpenAIServer) -> None:
    server.replies = [{"body": {"hi": 1}}]
    with pytest.raises(UserError, match="--base-url"):
        answer(server, streamed=False)
    assert len(server.requests) == 1


def test_a_dead_endpoint_is_for_the_user(server: OpenAIServer, streamed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    server.close()
    monkeypatch.setattr("egg.agents.provider.ATTEMPTS", 2)
    with pytest.raises(UserError, match="--base-url"):
        answer(server, streamed)


def test_the_check_before_a_run(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    check_backbone(Settings())
    with pytest.raises(UserError, match="--base-url is for an LLM"):
        check_backbone(Settings(base_url=server.url))
    check_backbone(Settings(model="openai:tiny", base_url=server.url))
    check_backbone(Settings(model="openai:unlisted", base_url=server.url))
    with pytest.raises(UserError, match="openai:NAME"):
        check_backbone(Settings(model="tiny"))
    with pytest.raises(UserError, match="not a URL"):
        check_backbone(Settings(model="openai:tiny", base_url="localhost:1"))
    with pytest.raises(UserError, match="ends in /v1"):
        check_backbone(Settings(model="openai:tiny", base_url=server.url.removesuffix("/v1")))
    server.key = "another"
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        check_backbone(Settings(model="openai:tiny", base_url=server.url))
    server.close()
    with pytest.raises(UserError, match="--base-url"):
        check_backbone(Settings(model="openai:tiny", base_url=server.url))
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        check_backbone(Settings(model="openai:tiny"))


def test_a_server_may_ask_for_a_wait_but_not_for_any(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("tenacity.nap.time.sleep", slept.append)
    asked = ("7", "3600", "-1", "Wed, 21 Oct 2026 07:28:00 GMT")
    server.replies = [*({"status": 429, "headers": {"Retry-After": wait}} for wait in asked), GOOD]
    message, _ = answer(server, streamed=False)
    assert message.tool_calls
    assert slept[:3] == [7, 60, 0] and 0 < slept[3] < 60


def test_a_wait_that_outlasts_the_run_is_not_begun(server: OpenAIServer) -> None:
    server.replies = [{"status": 429, "headers": {"Retry-After": "30"}}]
    settings = Settings(model="openai:tiny", base_url=server.url)
    with pytest.raises(ProviderFault, match="HTTP 429"):
        ask(chat_model(settings, "code"), [HumanMessage("hi")], settings.backbone("code"), seconds=20)
    assert len(server.requests) == 1
