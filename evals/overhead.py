"""What the state machine itself costs: `python -m egg.evals.overhead PROBLEM`.

Runs the problem with the rulebook and an empty cache, and prints the share of the wall time that went to anything but
model calls, compiles and runs of child processes; that cost per checkpointed step; and the largest checkpoint.
"""

import json
import os
import sqlite3
import sys
import tempfile
from pathlib import Path
from time import time
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig

from egg.graph.app import build_graph
from egg.graph.checkpointing import open_saver
from egg.state.run import RunInput
from egg.tools.sandbox import client


class Overhead(NamedTuple):
    """The three figures, and what they were computed from."""

    wall_s: float
    own_s: float
    steps: int
    largest_checkpoint_bytes: int

    @property
    def share(self) -> float:
        """Own cost over wall time."""
        return self.own_s / self.wall_s

    @property
    def ms_per_step(self) -> float:
        """Own cost per checkpoint written, milliseconds."""
        return 1e3 * self.own_s / self.steps


def covered(intervals: list[tuple[float, float]]) -> float:
    """Length of the union of intervals: parallel work is counted once."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(intervals):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


def _watch_children() -> list[tuple[float, float]]:
    """When a child process was at work, as a list that fills from now on."""
    work: list[tuple[float, float]] = []
    run_once = client._run_once

    def watched(*args: Any) -> Any:
        began = time()
        try:
            return run_once(*args)
        finally:
            work.append((began, time()))

    setattr(client, "_run_once", watched)  # noqa: B010  a typed assignment would need the whole signature again
    return work


def measure(problem: str, run_dir: Path) -> Overhead:
    """Run `problem` once in `run_dir` and account for its time."""
    run_dir.mkdir(parents=True)
    work = _watch_children()
    with open_saver(run_dir / "checkpoint.sqlite") as saver:
        graph = build_graph(checkpointer=saver)
        config: RunnableConfig = {"configurable": {"thread_id": "overhead"}}
        began = time()
        graph.invoke(RunInput(problem_file=problem, run_dir=str(run_dir)), config)
        ended = time()
    for line in (run_dir / "journal.jsonl").read_text().splitlines():
        entry = json.loads(line)
        work.append((entry["end"] - entry["seconds"], entry["end"]))
    with sqlite3.connect(run_dir / "checkpoint.sqlite") as database:
        steps, largest = database.execute("SELECT count(*), max(length(checkpoint)) FROM checkpoints").fetchone()
    return Overhead(ended - began, ended - began - covered(work), steps, largest)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EGG_CACHE_DIR"] = f"{folder}/cache"
        cost = measure(sys.argv[1], Path(folder) / "run")
    print(f"wall {cost.wall_s:.1f} s, own {cost.own_s:.2f} s = {cost.share:.1%}")
    print(f"{cost.steps} steps, {cost.ms_per_step:.1f} ms each")
    print(f"largest checkpoint {cost.largest_checkpoint_bytes / 1024:.1f} KiB")


if __name__ == "__main__":
    main()
