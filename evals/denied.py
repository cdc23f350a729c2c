"""Whether a run does as well without the right to count: `python -m egg.evals.denied --out FILE [--jobs N]`.

Six problems are tuned by the agents (no machine search, which asks no counters), each twice: with an `ncu` in front of
the real one that refuses as the driver does, or (`--as-user UID`, alone on the GPU) as a user whom the driver refuses;
then as this user. Both know the same verdicts, so that only their choices differ, and the two choices are timed beside
each other. A problem that is done is not done again. Without a GPU nobody counts anyway, and choices are compared by
the estimate.

Exit code 0: no choice made without counters is more than 5 % slower.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from uuid import uuid4

from langchain_core.runnables import RunnableConfig

from egg.evals.library import PROBLEMS
from egg.evals.resume import Json, Parts
from egg.evals.stopping import stoppable
from egg.graph.app import build_graph
from egg.graph.checkpointing import open_saver
from egg.state.device import Device
from egg.state.errors import UserError
from egg.state.run import RunInput
from egg.state.settings import Policy
from egg.tools.device import detect_device
from egg.tools.expert import library_version
from egg.tools.problem import load_problem
from egg.tools.profile import profile_forward
from egg.tools.sandbox.client import shutdown
from egg.tools.store import Store
from egg.tools.timing.brief import stand
from egg.tools.timing.interleave import Job
from egg.tools.timing.nvml import reader

VERSION = 1
NAMES = ("row_sum", "layernorm_gelu", "bias_silu_gate", "cross_entropy", "maxpool_hardswish", "attention_full")
MINUTES, SECONDS = 8.0, 540.0
"""Of a run, by its own clock; and by ours, whatever it does."""
WITHIN = 0.05
ROUNDS, SHARE = 8, 0.4
REFUSES = """#!/bin/sh
echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the \
target device 0."
exit 1
"""


def chosen(problem_file: str, folder: Path) -> Json:
    """The kernel that a run would confirm, how it is profiled, and how often counters were read on the way."""
    config: RunnableConfig = {"configurable": {"thread_id": folder.name}}
    run_dir = folder / "run"
    request = RunInput(problem_file=problem_file, seeds=1, search=False, run_dir=str(run_dir), max_minutes=MINUTES)
    with open_saver(folder / "checkpoint.sqlite") as saver:
        graph = build_graph(checkpointer=saver)
        graph.invoke(request, config, interrupt_before=["confirm"])
        state = graph.get_state(config).values
    incumbent = state.get("incumbent")
    if incumbent is None:
        return {"kernel": None}
    store = Store(run_dir)
    profile = profile_forward(state["problem"], incumbent.source, state["device"], Policy.STOCK, store)
    journal = (run_dir / "journal.jsonl").read_text().splitlines()
    return {
        "kernel": incumbent.id,
        "source": incumbent.source,
        "rank_ms": incumbent.evaluation.rank_ms if incumbent.evaluation else None,
        "profiled_by": profile.source,
        "note": profile.note,
        "counted": sum(json.loads(line)["kind"] == "counters" for line in journal),
        "tried": [line for decision in state["ledger"] for line in decision.tried],
    }


def both(name: str, device: Device, user: int | None) -> Json:
    """The two choices for one problem. Without counters first: what was counted would be known to it."""
    with tempfile.TemporaryDirectory(prefix="egg-denied-") as folder:
        root = Path(folder)
        path = root / f"{name}.py"  # a text of its own, so that nothing is known of it from before
        path.write_text(f"{(PROBLEMS / path.name).read_text()}\n# {uuid4().hex}\n")
        without = _child(path, root, "without", user)
        with_ = _child(path, root, "with", None)
        sources = without.pop("source", None), with_.pop("source", None)
        part: Json = {"without": without, "with": with_, "same": without["kernel"] == with_["kernel"]}
        if sources[0] is None or sources[1] is None:
            return part | {"behind": None}
        if part["same"]:
            return part | {"behind": 0.0}
        if not device.present:
            return part | {"behind": without["rank_ms"] / with_["rank_ms"] - 1}
        return part | {"behind": _timed(path, device, *sources)}


def _timed(path: Path, device: Device, without: str, with_: str) -> float:
    """By what part the first takes longer."""
    with stand(Job(load_problem(str(path)), device, Policy.STOCK, reader(device.uuid))) as opened:
        times = opened.times({"without": without, "with": with_}, ROUNDS, SHARE).median_ms
    return times["without"] / times["with"] - 1


def _child(problem: Path, root: Path, how: str, user: int | None) -> Json:
    """One run in a process of its own, since what a GPU refuses is remembered.

    Raises:
        RuntimeError: it failed.
    """
    folder = root / how
    folder.mkdir()
    environment = dict(os.environ)
    if user is not None:  # verdicts that both can read and write
        environment["EGG_CACHE_DIR"] = str(root / "cache")
    command = [sys.executable, "-m", "egg.evals.denied", "--one", str(problem), str(folder)]
    if how == "without" and user is not None:
        (root / "cache").mkdir()
        for place in (root, root / "cache", folder, problem):
            os.chown(place, user, user)
        environment["HOME"] = str(folder)
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
    elif how == "without":
        environment["PATH"] = f"{refusing(root / 'bin')}:{environment['PATH']}"
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"{problem.stem}, {how} counters: ended with {done.returncode}: {last}")
    found: Json = json.loads((folder / "chosen.json").read_text())
    return found


def refusing(folder: Path) -> Path:
    """A folder with an `ncu` in it that says what the real one says to a user without the right."""
    folder.mkdir(parents=True, exist_ok=True)
    stand_in = folder / "ncu"
    stand_in.write_text(REFUSES)
    stand_in.chmod(0o755)
    return folder


def summary(parts: dict[str, Json]) -> Json:
    """How far behind each choice is that was made without counters."""
    return {
        "behind": {name: part["behind"] for name, part in parts.items()},
        "same": sum(part["same"] for part in parts.values()),
        "counted": {name: part["with"].get("counted", 0) for name, part in parts.items()},
        "notes": sorted({part["without"].get("note", "") for part in parts.values()} - {""}),
    }


def told(found: Json) -> str:
    """The summary in a few lines."""
    lines = [
        f"{name:20} " + ("no kernel" if behind is None else f"{behind:+.1%} without counters")
        for name, behind in found["behind"].items()
    ]
    return "\n".join([*lines, f"{found['same']} of {len(found['behind'])} choices are the same", *found["notes"]])


def passed(found: Json) -> bool:
    """Whether this is what was promised."""
    return len(found["behind"]) == len(NAMES) and all(
        behind is not None and behind <= WITHIN for behind in found["behind"].values()
    )


def main() -> int:
    """Run, compare, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(NAMES), help="own problems; six of them by default")
    parser.add_argument("--out", type=Path, help="results file; what it holds already is not done again")
    parser.add_argument("--jobs", type=int, default=len(NAMES), help="problems side by side; with --as-user one")
    parser.add_argument("--as-user", type=int, help="number of a user who may not count; needs setpriv and root")
    parser.add_argument("--one", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        problem, folder = options.one
        (folder / "chosen.json").write_text(json.dumps(chosen(str(problem), folder)))
        shutdown()
        return 0
    if options.out is None:
        parser.error("--out is missing")
    if options.as_user is not None and (os.getuid() != 0 or shutil.which("setpriv") is None):
        parser.error("--as-user needs root and setpriv (package util-linux)")
    try:
        device = detect_device(None)
        parts = Parts(options.out, "python -m egg.evals.denied", device, Policy.STOCK, VERSION)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    of = [library_version(), options.as_user]
    failed = False
    with ThreadPoolExecutor(1 if options.as_user is not None else options.jobs) as pool:  # that user has its own locks
        running = {
            name: pool.submit(parts.get, name, partial(both, name, device, options.as_user), of)
            for name in options.names
        }
        for name, future in running.items():
            if failure := future.exception():
                failed = True
                print(f"{name}: {failure}", file=sys.stderr, flush=True)
    found = summary(parts.found)
    parts.write({"summary": found})
    print(told(found))
    shutdown()
    return 0 if not failed and (passed(found) or options.names != list(NAMES)) else 1


if __name__ == "__main__":
    stoppable(main)
