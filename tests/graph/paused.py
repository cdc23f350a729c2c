"""Runs that ask a person, with agents and a judge from a list: what is tried is the asking, not the kernels."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver

from egg.graph import app, stage
from egg.graph.checkpointing import open_saver
from egg.state.candidate import Candidate
from egg.state.evaluation import Evaluation
from egg.state.plan import Plan
from egg.state.settings import Settings
from tests.graph.make import run_state, verdict


class Paused:
    """A run from its seeds on. Each `code` of a branch is a kernel that takes a tenth less than the one in force."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path, saver: BaseCheckpointSaver[Any]) -> None:
        self.work: list[tuple[str, str]] = []
        self.seen: list[tuple[str, tuple[str, ...]]] = []
        patch.setattr(stage, "build_code_agent", lambda: self.code)
        patch.setattr(stage, "build_profile_agent", lambda: self.profile)
        patch.setattr(stage, "build_debug_agent", lambda: self.code)
        patch.setattr(stage, "judge", self.judge)
        patch.setattr("egg.graph.nodes.judge", self.judge)
        self.folder = folder
        self.graph = app.build_graph(saver)
        self.config = {"configurable": {"thread_id": "t"}}

    def begin(self, **settings: Any) -> dict[str, Any]:
        """To the first question."""
        state = run_state(run_dir=str(self.folder), settings=Settings(search=False, **settings))
        self.graph.update_state(self.config, state, as_node="baseline")
        return self.go(None)

    def go(self, given: Any) -> dict[str, Any]:
        """On to the next question, or the end."""
        return self.graph.invoke(given, self.config)

    def questions(self) -> dict[str, dict[str, Any]]:
        """What is asked now, by stage."""
        return {asked.value["stage"]: asked.value for asked in self.graph.get_state(self.config).interrupts}

    def ids(self) -> dict[str, str]:
        return {asked.value["stage"]: asked.id for asked in self.graph.get_state(self.config).interrupts}

    def code(self, state: stage.StageState) -> dict[str, Any]:
        incumbent = state["incumbent"]
        self._note("code", state)
        time = 0.9 * incumbent.rank_ms if incumbent else 1.0 + 0.01 * int(state["branch"][-1])
        source = f"{state['branch']} {state['round']} {time:.6f}"
        return {"draft": Candidate(source=source, origin=state["branch"], structure=state["structure"])}

    def profile(self, state: stage.StageState) -> dict[str, Any]:
        """One change a stage, and one more for each hint."""
        self._note("profile", state)
        more = state["round"] < (0 if state["spec"].name == "seed" else 1) + len(state.get("hints", ()))
        return {"plan": Plan(worth_it=more, change=f"change {state['round']}", why="enough")}

    def judge(self, problem: Any, source: str, *args: Any, **kwargs: Any) -> Evaluation:
        self.work.append(("judge", source))
        return verdict(estimate_ms=float(source.split()[-1]))

    def _note(self, role: str, state: stage.StageState) -> None:
        self.work.append((role, f"{state['branch']} {state['round']}"))
        self.seen.append((state["branch"], state.get("hints", ())))


@pytest.fixture
def paused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Paused]:
    with open_saver(tmp_path / "checkpoint.sqlite") as saver:
        yield Paused(monkeypatch, tmp_path, saver)
