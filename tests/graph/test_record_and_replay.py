"""Whole runs, recorded and repeated: on a machine without their GPU, with a person's answers, at a cap."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from egg.graph.app import build_graph
from egg.replaying import replay
from egg.state.evaluation import Evaluation, Speedup, Status, Timing
from egg.state.search import Searched
from egg.tools.device import detect_device
from tests.agents.openai_server import OpenAIServer
from tests.agents.test_llm_run import think

PROBLEM = Path(__file__).parents[2] / "evals" / "problems" / "bias_silu_gate.py"
SECRET = "sk-proj-abcdefghijklmnop0123456789"
pytestmark = pytest.mark.slow


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "good")
    running = OpenAIServer()
    yield running
    running.close()


def cut_off(patch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a replay starts no process and asks nobody")

    patch.setattr("egg.tools.sandbox.client.warm", refuse)
    patch.setattr("subprocess.Popen", refuse)
    patch.setattr(socket.socket, "connect", refuse)
    patch.delenv("OPENAI_API_KEY", raising=False)


def run(folder: Path, **request: Any) -> dict[str, Any]:
    config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 200}
    given = {"problem_file": str(PROBLEM), "run_dir": str(folder), "seeds": 1, "search": False, **request}
    return dict(build_graph(InMemorySaver()).invoke(given, config))  # type: ignore[arg-type]


def on_a_gpu(patch: pytest.MonkeyPatch) -> None:
    """Instruments of a GPU that is not here: what they say is made up, and only they can say it."""
    here = detect_device("sm_90")
    device = here.model_copy(update={"present": True, "uuid": "GPU-0", "driver": "580"})
    time = Timing(median_ms=0.5, p20_ms=0.49, p80_ms=0.52, samples=100)
    faster = Speedup(baseline="eager", ratio=1.5, low=1.4, high=1.6)
    verdict = Evaluation(status=Status.OK, mode="gpu", timing=time, speedups=(faster,), deterministic=True)
    patch.setattr("egg.graph.nodes.detect_device", lambda target: device)
    patch.setattr("egg.tools.timing.measure.sessions", lambda *args: SimpleNamespace(left_out={}))
    patch.setattr("egg.tools.timing.measure.reader", lambda uuid: None)
    patch.setattr("egg.tools.timing.measure._summary", lambda taken, side: time)
    patch.setattr("egg.tools.judge._judge", lambda *args: verdict)
    patch.setattr("egg.graph.search._search", lambda state: Searched(told="nothing is better"))


def test_a_run_on_a_gpu_is_the_same_where_there_is_none(
    server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.think = lambda body: {"text": f"My key is {SECRET}.", **think(body)}
    with monkeypatch.context() as patch:
        on_a_gpu(patch)
        end = run(tmp_path / "run", model="openai:tiny", base_url=server.url, search=True)
    assert end["outcome"].proven_faster
    kept = [path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert any(b"My key is (removed)." in each for each in kept)
    assert not any(SECRET.encode() in each for each in kept)
    with monkeypatch.context() as patch:
        cut_off(patch)
        result = replay(str(tmp_path / "run"))
    assert result.differences == []
    assert result.prompts == []
    assert result.values["outcome"].claim == end["outcome"].claim
    assert result.answers["openai:tiny"] == len(server.requests)
    assert result.values["usage"].total.paid_calls == 0
    assert result.values["usage"].total.input_tokens == end["usage"].total.input_tokens


def test_a_backbone_of_a_recording_plays_a_real_run(
    server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.think = think
    end = run(tmp_path / "run", model="openai:tiny", base_url=server.url)
    asked = len(server.requests)
    monkeypatch.delenv("OPENAI_API_KEY")
    again = run(tmp_path / "again", model=f"replay:{tmp_path / 'run'}")
    assert len(server.requests) == asked
    assert again["outcome"].kernel == end["outcome"].kernel
    assert [(line.stage, line.verb) for line in again["ledger"]] == [(line.stage, line.verb) for line in end["ledger"]]
    evidence = json.loads((tmp_path / "again" / "evidence.json").read_text())
    assert evidence["models"]["openai:tiny, replayed"] == asked
    journal = [json.loads(line) for line in (tmp_path / "again" / "journal.jsonl").read_text().splitlines()]
    assert len([line for line in journal if line["kind"] == "model"]) == evidence["models"]["rulebook"]


def test_a_persons_answers_are_given_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = build_graph(InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 200}
    given: Any = {"problem_file": str(PROBLEM), "run_dir": str(tmp_path / "run"), "seeds": 1, "pause": "stages"}
    end = graph.invoke(given, config)
    while "__interrupt__" in end:
        asked = end["__interrupt__"]
        answers = {each.id: "approve" if "seed" in each.value["stage"] else "refuse not today" for each in asked}
        end = graph.invoke(Command(resume=answers), config)
    assert {line.stage for line in end["ledger"] if "not today" in line.why} == {"mapping", "tiling", "memory"}
    with monkeypatch.context() as patch:
        cut_off(patch)
        assert replay(str(tmp_path / "run")).differences == []


def test_a_run_that_ended_at_a_cap_ends_there_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end = run(tmp_path / "run", max_minutes=0.01)
    assert end["outcome"].ended.startswith("out of budget: wall time")
    with monkeypatch.context() as patch:
        cut_off(patch)
        assert replay(str(tmp_path / "run")).differences == []
