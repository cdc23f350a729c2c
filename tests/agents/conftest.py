"""A scripted chat model, an OpenAI-compatible server on loopback, and a brief to give an agent."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from egg.state.run import AgentState
from tests.agents.make import seed_state
from tests.agents.openai_server import OpenAIServer
from tests.agents.scripted import Scripted


@pytest.fixture
def scripted() -> Callable[..., Scripted]:
    return lambda *script: Scripted(script=list(script), seen=[])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "good")
    running = OpenAIServer()
    yield running
    running.close()


@pytest.fixture
def state(tmp_path: Path) -> AgentState:
    return seed_state(tmp_path / "run")
