"""A recording as a backbone: the same answers to the same questions, and a clear line for any other."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from egg.agents.backbone import chat_model, check_backbone
from egg.agents.build import build_code_agent
from egg.agents.exchange import ExchangeLog
from egg.agents.replayed import Unmatched, recording
from egg.state.errors import UserError
from egg.state.run import AgentState
from egg.state.settings import Settings
from egg.tools.kept import MARK, Mark
from tests.agents.openai_server import OpenAIServer
from tests.agents.scripted import KERNEL, Scripted, call

Script = Callable[..., Scripted]
SUBMIT = call("submit_kernel", source=KERNEL, rationale="because")


@pytest.fixture
def recorded(scripted: Script, state: AgentState) -> AgentState:
    """What an agent was given whose two answers were recorded."""
    model = scripted(call("guide", topic="accuracy"), SUBMIT)
    given: Any = {**state, "settings": Settings(model="openai:tiny")}
    assert build_code_agent(lambda settings, role: model).invoke(given)["draft"]
    return given  # type: ignore[no-any-return]


def again(recorded: AgentState, tmp_path: Path, **changes: Any) -> dict[str, Any]:
    settings = Settings(model=f"replay:{recorded['run_dir']}")
    state: Any = {**recorded, "run_dir": str(tmp_path / "again"), "settings": settings, **changes}
    return build_code_agent(nobody).invoke(state)


def nobody(settings: Settings, role: str) -> Any:
    raise AssertionError("a model was asked")


def test_the_same_questions_get_the_recorded_answers(recorded: AgentState, tmp_path: Path) -> None:
    result = again(recorded, tmp_path)
    assert result["draft"].source == KERNEL
    spend = result["usage"].by_agent["seed-1/code"]
    assert (spend.calls, spend.replayed, spend.paid_calls) == (2, 2, 0)
    log = ExchangeLog(tmp_path / "again")
    assert log.models() == {"openai:tiny, replayed": 2}
    assert not (tmp_path / "again" / "journal.jsonl").exists(), "nobody was asked"
    (tmp_path / "run" / "exchanges.jsonl").unlink()  # a resumed run has its answers
    assert again(recorded, tmp_path) == result


def test_another_question_is_told_with_the_call_and_the_line(recorded: AgentState, tmp_path: Path) -> None:
    with pytest.raises(Unmatched) as raised:
        again(recorded, tmp_path, structure="fused_two_pass")
    line = str(raised.value)
    assert "does not fit call 1 of the code agent in seed-1 (round 1): message 2 of 2 (human), line " in line
    then, now = line.split(", now ")
    assert "fused_one_pass" in then
    assert "fused_two_pass" in now
    assert "\n" not in line


def test_a_call_that_was_never_made_is_told(recorded: AgentState, tmp_path: Path) -> None:
    with pytest.raises(Unmatched, match=r"ends before call 1 of the code agent in seed-2 \(round 1\)"):
        again(recorded, tmp_path, branch="seed-2")
    with pytest.raises(Unmatched, match=r"call 1 of the code agent in seed-1 \(round 2\)"):
        again(recorded, tmp_path, round=1)


def test_a_tool_that_is_described_otherwise_is_named(
    recorded: AgentState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from egg.agents.toolbox.kernels import check_kernel

    monkeypatch.setattr(check_kernel, "description", "Something else.")
    with pytest.raises(Unmatched, match="the tool check_kernel is described otherwise"):
        again(recorded, tmp_path)


def test_answers_may_be_given_whatever_the_prompt(recorded: AgentState, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    mark = Mark(recording=recorded["run_dir"], any_prompt=True)
    (tmp_path / "again" / MARK).write_text(mark.model_dump_json())
    result = again(recorded, tmp_path, structure="fused_two_pass", settings=recorded["settings"])
    assert result["draft"].source == KERNEL


def test_what_stopped_an_agent_stops_it_again(server: OpenAIServer, state: AgentState, tmp_path: Path) -> None:
    server.think = lambda body: {"status": 400, "error": {"message": "not today"}}
    down: Any = {**state, "settings": Settings(model="openai:tiny", base_url=server.url)}
    first = build_code_agent().invoke(down)
    asked = len(server.requests)
    result = again(down, tmp_path)
    assert result["stopped"] == first["stopped"]
    assert "not today" in result["stopped"]
    assert len(server.requests) == asked


def test_the_rulebook_can_be_replayed(state: AgentState, tmp_path: Path, scripted: Script) -> None:
    model = scripted(SUBMIT)
    build_code_agent(lambda settings, role: model).invoke(state)
    result = again(state, tmp_path)
    assert result["draft"].source == KERNEL
    assert result["usage"].total.replayed == 1 - result["usage"].total.free


def test_what_is_no_recording_is_refused_early(recorded: AgentState, tmp_path: Path) -> None:
    check_backbone(Settings(model=f"replay:{recorded['run_dir']}"))
    with pytest.raises(UserError, match="no run nothing to replay: give its id in .*, or its folder"):
        check_backbone(Settings(model="replay:nothing"))
    with pytest.raises(UserError, match="answers what that run asked and nothing else"):
        chat_model(Settings(model=f"replay:{recorded['run_dir']}"), "code")
    (tmp_path / "older" / "exchanges").mkdir(parents=True)
    with pytest.raises(UserError, match="was made before runs could be replayed"):
        recording(str(tmp_path / "older"))
    (tmp_path / "older" / MARK).write_text(Mark(recording="/a/run").model_dump_json())
    with pytest.raises(UserError, match="is a replay itself: replay /a/run"):
        recording(str(tmp_path / "older"))
