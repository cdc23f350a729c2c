"""A run killed once inside each node it enters: `python killer.py RUN_DIR PROBLEM`.

Each life is a process forked before anything was started. It dies by SIGKILL shortly after a node has started that no
earlier life has died in; the next one goes on from the checkpoint. The folder's `killed` file lists the nodes.
"""

import os
import signal
import sys
import time
import traceback
from pathlib import Path

from egg.graph.app import build_graph
from egg.graph.checkpointing import open_saver, unfinished

AT_WORK_S = dict.fromkeys(("intake", "code/tools", "debug/tools", "judge", "confirm", "search"), 0.05)
"""Long enough for a node to have a child at work. Other nodes would be over by then, and the next ones too."""


def node_path(namespace: tuple[str, ...], name: str) -> str:
    """`seed/code/model` for a node of an agent in a seed; task ids are dropped."""
    return "/".join([*(part.split(":")[0] for part in namespace), name])


def main(run_dir: Path, problem: str) -> int:
    """One life after the other until one ends by itself; 0 if it ended well."""
    while True:
        if not (child := os.fork()):
            try:
                live(run_dir, problem)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            return os.waitstatus_to_exitcode(status)


def live(run_dir: Path, problem: str) -> None:
    """Go on with the run in `run_dir`, or begin it."""
    killed = run_dir / "killed"
    run_dir.mkdir(parents=True, exist_ok=True)
    killed.touch()
    done = set(killed.read_text().splitlines())
    with open_saver(run_dir / "checkpoint.sqlite") as saver:
        graph = build_graph(checkpointer=saver)
        config = {"configurable": {"thread_id": run_dir.name}}
        start = None if unfinished(graph.get_state(config)) else {"problem_file": problem, "run_dir": str(run_dir)}
        for namespace, event in graph.stream(start, config, stream_mode="tasks", subgraphs=True):
            path = node_path(namespace, event["name"])
            if "input" in event and path not in done:
                with killed.open("a") as log:
                    log.write(path + "\n")
                    log.flush()
                    os.fsync(log.fileno())
                time.sleep(next((seconds for tail, seconds in AT_WORK_S.items() if path.endswith(tail)), 0.0))
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
