"""A model that answers as the rulebook does, and is none: it is asked, counted and billed like any other."""

from collections.abc import Iterator

import pytest

from egg.agents.rulebook import Rulebook
from tests.agents.openai_server import OpenAIServer


@pytest.fixture
def posing(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The base URL under which `openai:tiny` is listed; who answers is the rulebook, in this process."""
    monkeypatch.setenv("OPENAI_API_KEY", "good")
    monkeypatch.setattr("egg.agents.backbone._openai", lambda *about: Rulebook())
    server = OpenAIServer()
    yield server.url
    server.close()
