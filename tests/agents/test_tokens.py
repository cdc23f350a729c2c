"""Counting tokens: by a real tokenizer where its data is, by characters elsewhere; never over the network."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool

from egg.agents import tokens
from egg.agents.tokens import DATA, FRAMING, count, counted, how
from tests.agents.scripted import call


@pytest.fixture(autouse=True)
def by_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    for cached in (tokens.tokenizer, tokens.count):
        cached.cache_clear()
    yield
    for cached in (tokens.tokenizer, tokens.count):
        cached.cache_clear()


@tool
def look(where: str) -> str:
    """Look."""
    return where


def test_without_the_data_characters_are_counted() -> None:
    assert how() == "3.5 characters a token"
    assert count("x" * 350) == 100


def test_data_that_is_not_tiktokens_is_not_used(tmp_path: Path) -> None:
    (tmp_path / hashlib.sha1(DATA.encode()).hexdigest()).write_bytes(b"IQ== 0\n")
    assert how() == "3.5 characters a token", "tiktoken would delete it and download another"


def test_a_request_is_all_that_is_sent_and_a_conversation_grows_by_what_is_new() -> None:
    system, human = SystemMessage("s" * 35), HumanMessage("h" * 70)
    first = counted([system, human], [look], call("look", where="x"))
    bare = counted([system, human], [], None)
    assert bare == (10 + 20 + 2 * FRAMING, 20 + FRAMING), "the system prompt is nobody's own"
    assert first.sent > bare.sent, "tools are sent too"
    assert first.own > bare.own, "the answer is carried on"
    answer = call("look", where="x")
    second = counted([system, human, answer, ToolMessage("r" * 105, tool_call_id="1")], [look], AIMessage("a" * 35))
    assert second.own == 30 + 10 + 2 * FRAMING
    assert second.sent - first.sent == first.own - bare.own + 30 + FRAMING, "no token is lost between two requests"
