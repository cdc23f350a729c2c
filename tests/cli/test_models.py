"""Models on the command line: options for all roles and for one, and another model for a run that stopped."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from egg.drive import resume
from egg.graph.app import build_graph
from egg.graph.checkpointing import open_saver
from egg.request import of_roles, other_backbone, validated
from egg.state.backbone import Backbone, Protocol, RoleBackbone, Roles, Sampling
from egg.state.errors import MachineError, UserError
from egg.state.run import RunInput
from egg.state.settings import Settings
from egg.tools.folders import CHECKPOINT, server_checkpoint
from tests.agents.openai_server import OpenAIServer
from tests.cli.make import egg, problem


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "good")
    running = OpenAIServer()
    yield running
    running.close()


def test_a_role_differs_in_what_it_says(server: OpenAIServer, tmp_path: Path) -> None:
    options = {
        "model": "openai:tiny",
        "base_url": server.url,
        "temperature": 0.5,
        "roles": of_roles(
            ["debug.model=openai:small", "debug.max-output=100", "code.protocol=text", "code.effort=low"]
        ),
    }
    settings = validated(str(problem(tmp_path)), options).settings
    run = {"base_url": server.url, "temperature": 0.5}
    assert settings.backbone("profile") == Backbone(model="openai:tiny", **run)
    assert settings.backbone("debug") == Backbone(model="openai:small", max_output=100, **run)
    assert settings.backbone("code") == Backbone(model="openai:tiny", protocol=Protocol.TEXT, effort="low", **run)


def test_another_provider_takes_over_nothing() -> None:
    roles = Roles(code=RoleBackbone(model="anthropic:large"), debug=RoleBackbone(model="rulebook"))
    mixed = Settings(model="openai:big", base_url="http://x/v1", sampling=Sampling(effort="high"), roles=roles)
    assert mixed.backbone("code") == Backbone(model="anthropic:large")
    assert mixed.backbone("debug").is_rulebook
    assert mixed.with_model and not mixed.by_rulebook().with_model


def test_the_rulebook_with_one_role_for_a_model(server: OpenAIServer, tmp_path: Path) -> None:
    options = {"model": "rulebook", "base_url": server.url, "roles": of_roles(["debug.model=openai:tiny"])}
    settings = validated(str(problem(tmp_path)), options).settings
    assert settings.backbone("code").is_rulebook
    assert settings.backbone("debug") == Backbone(model="openai:tiny", base_url=server.url)
    assert settings.with_model


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--role", "judge.model=openai:x"], "code, profile, debug"),
        (["--role", "code.model"], "ROLE.OPTION=VALUE"),
        (["--role", "code.colour=red"], "--role code.colour"),
        (["--role", "code.temperature=hot"], "--role code.temperature"),
        (["--role", "code.model=gpt-9"], "rulebook"),
        (["--protocol", "telepathy"], "'text'"),
        (["--temperature", "3"], "--temperature"),
        (["--max-output", "0"], "--max-output"),
        (["--model", "nobody:model"], "pip install langchain langchain-nobody"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_option_that_cannot_be(
    options: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EGG_RUNS_DIR", str(tmp_path / "runs"))
    model = [] if "--model" in options else ["--model", "rulebook"]
    if says.startswith("pip") and _langchain():
        says = "cannot be set up"
    assert egg(monkeypatch, "optimize", problem(tmp_path), *model, *options) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1, error
    assert not (tmp_path / "runs").exists()


def _langchain() -> bool:
    from importlib.util import find_spec

    return find_spec("langchain") is not None


def test_options_to_resume_with_need_a_model(server: OpenAIServer) -> None:
    assert other_backbone(None, {"base_url": None}) is None
    with pytest.raises(UserError, match="goes with --model"):
        other_backbone(None, {"max_output": 3})
    with pytest.raises(UserError, match="--protocol"):
        other_backbone("openai:tiny", {"base_url": server.url, "protocol": "telepathy"})
    assert other_backbone("openai:tiny", {"base_url": server.url}) == Backbone(model="openai:tiny", base_url=server.url)


@pytest.mark.parametrize("begun_by", ["command", "server"])
def test_a_run_that_stopped_inside_intake_goes_on_with_another_model(
    begun_by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EGG_RUNS_DIR", str(tmp_path))
    monkeypatch.setattr("egg.graph.nodes.check_backbone", lambda settings: asked.append(settings.backbone("code")))
    monkeypatch.setattr("egg.graph.nodes.detect_device", _broken)
    asked: list[Backbone] = []
    options: dict[str, Any] = {"problem_file": str(problem(tmp_path)), "model": "openai:tiny", "seeds": 3}
    folder = tmp_path / "r"
    folder.mkdir()
    if begun_by == "command":
        options["run_dir"] = str(folder)
        (folder / "run.json").write_text(RunInput(**options).model_dump_json())
    database = folder / CHECKPOINT if begun_by == "command" else server_checkpoint()
    with open_saver(database) as saver, pytest.raises(MachineError):
        build_graph(saver).invoke(RunInput(**options), {"configurable": {"thread_id": "r"}}, durability="sync")

    other = Backbone(model="openai:other", effort="low")
    for instead in (other, None):
        with pytest.raises(MachineError):
            resume("r", instead)
    assert asked == [Backbone(model="openai:tiny"), other, other]
    with open_saver(database) as saver:
        values = build_graph(saver).get_state({"configurable": {"thread_id": "r"}}).values
    assert values["seeds"] == 3 and values["model"] == "openai:other"


def _broken(target: str | None) -> Any:
    raise MachineError("the GPU is gone")


def think(body: dict[str, Any]) -> dict[str, Any]:
    """A modest model whose account runs dry at the second answer, unless it is the other one."""
    tools = {tool["function"]["name"] for tool in body["tools"]}
    if "not_worth_it" in tools:
        return {"calls": [("not_worth_it", {"why": "memory-bound already"})]}
    if "no_fix" in tools:
        return {"calls": [("no_fix", {"why": "no idea"})]}
    last = body["messages"][-1]
    if last["role"] == "user":
        return {"calls": [("expert_skeleton", {})]}
    if body["model"] == "tiny":
        return {"status": 429, "error": {"message": "no money", "code": "insufficient_quota"}}
    name = re.search(r"Kernel ([0-9a-f]{12})", last["content"])
    assert name
    return {"calls": [("submit_kernel", {"source": name.group(1), "rationale": "the skeleton will do"})]}


@pytest.mark.slow
def test_a_run_goes_on_with_another_model(
    server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EGG_RUNS_DIR", str(tmp_path / "runs"))
    server.models = {"tiny": 200, "other": 200}
    server.think = think
    options = ["--model", "openai:tiny", "--base-url", server.url, "--seeds", "1", "--no-search"]
    assert egg(monkeypatch, "optimize", problem(tmp_path), *options) == 2
    error = capsys.readouterr().err
    assert "no credit" in error and "egg resume" in error and "--model" in error
    (folder,) = (tmp_path / "runs").iterdir()

    assert egg(monkeypatch, "resume", folder.name, "--temperature", "1") == 2
    assert "goes with --model" in capsys.readouterr().err
    assert egg(monkeypatch, "resume", folder.name, "--model", "openai:other", "--base-url", server.url) == 0
    evidence = json.loads((folder / "evidence.json").read_text())
    assert evidence["outcome"]["kernel"]
    models = evidence["models"]
    assert models["openai:tiny"] == 1 and models["openai:other"] >= 2 and models["rulebook"] >= 3
    asked = [request["model"] for request in server.requests]
    assert asked[:2] == ["tiny", "tiny"] and set(asked[2:]) == {"other"}
    assert len(server.requests) == models["openai:other"] + 2, "no answer was paid for twice"
