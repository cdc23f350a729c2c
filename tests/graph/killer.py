"""A run that kills itself, once, inside each node it enters: `python killer.py RUN_DIR PROBLEM`.

It dies by SIGKILL shortly after a node that has not yet been died in has started, and is meant to be started again
until it ends by itself. The folder's `killed` file lists the nodes.
"""

import os
import signal
import sys
import time
from pathlib import Path

from egg.graph.app import build_graph
from egg.graph.checkpointing import open_saver

DELAY_S = 0.05
"""Long enough for the node to be at work, too short for one that forks a child to have finished."""


def node_path(namespace: tuple[str, ...], name: str) -> str:
    """`seed/code/model` for a node of an agent in a seed; task ids are dropped."""
    return "/".join([*(part.split(":")[0] for part in namespace), name])


def main(run_dir: Path, problem: str) -> None:
    """Go on with the run in `run_dir`, or begin it."""
    killed = run_dir / "killed"
    run_dir.mkdir(parents=True, exist_ok=True)
    killed.touch()
    done = set(killed.read_text().splitlines())
    with open_saver(run_dir / "checkpoint.sqlite") as saver:
        graph = build_graph(checkpointer=saver)
        config = {"configurable": {"thread_id": run_dir.name}}
        start = None if graph.get_state(config).next else {"problem_file": problem, "run_dir": str(run_dir)}
        for namespace, event in graph.stream(start, config, stream_mode="tasks", subgraphs=True):
            path = node_path(namespace, event["name"])
            if "input" in event and path not in done:
                with killed.open("a") as log:
                    log.write(path + "\n")
                    log.flush()
                    os.fsync(log.fileno())
                time.sleep(DELAY_S)
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
