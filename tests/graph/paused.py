"""Runs that ask a person, with agents and a judge from a list: what is tried is the asking, not the kernels.

`python -m tests.graph.paused FOLDER` begins one and is killed while one seed waits for an answer and the other works.
"""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver

from egg.graph import app, stage
from egg.graph.checkpointing import open_saver
from egg.state.candidate import Candidate
from egg.state.evaluation import Evaluation
from egg.state.ledger import Decision
from egg.state.plan import Plan
from egg.state.run import StageState
from egg.state.settings import Settings
from egg.tools.folders import CHECKPOINT
from tests.graph.make import run_state, verdict

Update = dict[str, Any]


class Scripted:
    """Agents and a judge. Each kernel takes a tenth less than the one in force; a hint is worth one round more."""

    def __init__(self) -> None:
        self.work: list[str] = []
        self.places: list[tuple[str, str, int, int]] = []
        self.hints: dict[str, tuple[str, ...]] = {}

    def play(self, patch: pytest.MonkeyPatch) -> None:
        """In every graph built from now on."""
        patch.setattr(stage, "build_code_agent", lambda: self.code)
        patch.setattr(stage, "build_profile_agent", lambda: self.profile)
        patch.setattr(stage, "build_debug_agent", lambda: self.code)
        patch.setattr(stage, "judge", self.judge)
        patch.setattr("egg.graph.nodes.judge", self.judge)

    def code(self, state: StageState) -> Update:
        self._note("code", state)
        incumbent, branch = state["incumbent"], state["branch"]
        takes_ms = 0.9 * incumbent.rank_ms if incumbent else 1.0 + 0.01 * int(branch[-1])
        source = f"# {branch}, round {state['round']}, takes {takes_ms:.6f}"
        change = f"change {state['round']} of {branch}"
        return {"draft": Candidate(source=source, origin=branch, structure=state["structure"], rationale=change)}

    def profile(self, state: StageState) -> Update:
        self._note("profile", state)
        worth_it = len(state.get("attempts", ())) < 1 + len(state.get("hints", ()))
        return {"plan": Plan(worth_it=worth_it, change=f"change {state['round']}", why="nothing left")}

    def judge(self, problem: Any, source: str, *args: Any, **kwargs: Any) -> Evaluation:
        self.work.append(f"judge {source.split(',')[0].removeprefix('# ')}")
        return verdict(estimate_ms=float(source.split()[-1]))

    def _note(self, role: str, state: StageState) -> None:
        self.work.append(f"{role} {state['branch']}")
        self.places.append((role, state["branch"], state["round"], state["repair"]))
        self.hints[state["branch"]] = tuple(state.get("hints", ()))


class Paused:
    """One run from its seeds on, which its folder names."""

    def __init__(self, folder: Path, saver: BaseCheckpointSaver[Any]) -> None:
        self.folder, self.graph = folder, app.build_graph(saver)
        self.config: Any = {"configurable": {"thread_id": folder.name}}

    def begin(self, **settings: Any) -> "Paused":
        """To the first questions, or the end."""
        state = run_state(run_dir=str(self.folder), settings=Settings(search=False, **settings))
        self.graph.update_state(self.config, state, as_node="baseline")
        return self.go(None)

    def go(self, given: Any) -> "Paused":
        """On to the next questions, or the end."""
        self.graph.invoke(given, self.config)
        return self

    def answer(self, **answers: Any) -> "Paused":
        """Answer questions by stage; `others` goes to all that are not named. Dashes are underscores."""
        from langgraph.types import Command

        named = {stage.replace("_", "-"): answer for stage, answer in answers.items()}
        asked = [(each.value["stage"], each.id) for each in self.asked]
        given = {number: named.get(stage, named.get("others")) for stage, number in asked}
        assert set(named) <= {*dict(asked), "others"}, f"asked is {dict(asked)}"
        return self.go(Command(resume={number: answer for number, answer in given.items() if answer is not None}))

    def finish(self) -> "Paused":
        """To the end, with everything approved."""
        while self.asked:
            self.answer(others="approve")
        return self

    @property
    def asked(self) -> tuple[Any, ...]:
        return tuple(self.graph.get_state(self.config).interrupts)

    @property
    def questions(self) -> dict[str, dict[str, Any]]:
        """What is asked now, by stage."""
        return {each.value["stage"]: each.value for each in self.asked}

    @property
    def values(self) -> dict[str, Any]:
        return dict(self.graph.get_state(self.config).values)

    @property
    def ledger(self) -> dict[str, Decision]:
        return {line.stage: line for line in self.values.get("ledger", ())}


def begin_and_die(folder: Path) -> None:
    """Seed 1 asks about its decision; the judge is at seed 2 when the process is killed."""
    scripted = Scripted()

    class Deadly(Scripted):
        def judge(self, problem: Any, source: str, *args: Any, **kwargs: Any) -> Evaluation:
            if "seed-2" in source:
                while not any(task.interrupts for task in run.graph.get_state(run.config).tasks):
                    time.sleep(0.05)
                os.kill(os.getpid(), signal.SIGKILL)
            return scripted.judge(problem, source)

    with pytest.MonkeyPatch.context() as patch, open_saver(folder / CHECKPOINT) as saver:
        Deadly().play(patch)
        run = Paused(folder, saver)
        run.begin(pause="decisions")


if __name__ == "__main__":
    begin_and_die(Path(sys.argv[1]))
