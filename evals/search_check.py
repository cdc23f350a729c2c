"""The machine search beside timing everything: `python -m egg.evals.search_check --out FILE`.

48 points of a matrix product with an epilogue are searched with empty caches and a clock beside; then every point that
compiles is timed, and the search's choice once more beside the best of them. At last a search is killed while it times
and started again: nothing may be done twice. What is done already is not done again. Without a GPU the search ranks by
the estimate, and only the kill is checked.

Exit code 0: under 60 s, within 2 % of the best, nothing twice; or there is no GPU and nothing was done twice.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

from egg.evals.library import PROBLEMS
from egg.evals.resume import Json, Parts
from egg.evals.stopping import stoppable
from egg.state.device import Device
from egg.state.errors import UserError
from egg.state.problem import Problem, Workload
from egg.state.search import Parameter, PointStatus, SearchLimits, SearchResult, SearchSpace, Values, spelled
from egg.state.settings import Policy
from egg.tools.device import detect_device
from egg.tools.expert import library_version, write_kernel
from egg.tools.problem import load_problem
from egg.tools.sandbox.client import shutdown
from egg.tools.store import Store
from egg.tools.timing.brief import Times, stand
from egg.tools.timing.interleave import Job
from egg.tools.timing.nvml import reader
from egg.tools.tune.apply import sources
from egg.tools.tune.search import tune
from egg.tools.workload import analyse

VERSION = 1
PROBLEM, STRUCTURE, POLICY = "linear_gelu", "tiled", Policy.TF32
AXES: dict[str, tuple[int, ...]] = {
    "tiling.BLOCK_M": (64, 128),
    "tiling.BLOCK_N": (64, 128),
    "tiling.BLOCK_K": (32, 64),
    "tiling.num_warps": (4, 8),
    "memory.num_stages": (2, 3, 4),
}
POINTS, SECONDS, WITHIN = 48, 60.0, 0.02
EVERY_ROUNDS, EVERY_SHARE, AT_ONCE = 3, 0.2, 16
LAST_ROUNDS, LAST_SHARE, BEST = 10, 0.5, 3
KILLED_POINTS = 8
WORK = ("kernel", "point", "brief", "final")
"""Kinds of work in a journal that may be there but once."""
PATIENCE_S = 300.0


class Task(NamedTuple):
    """The kernel that is searched."""

    problem: Problem
    workload: Workload
    source: str
    space: SearchSpace
    device: Device


def task(device: Device, store: Store) -> Task:
    """The library's kernel with its default decisions, and the space around it."""
    problem = load_problem(str(PROBLEMS / f"{PROBLEM}.py"))
    skeleton = write_kernel(problem, policy=POLICY, device=device, structure=STRUCTURE, store=store)
    region = skeleton.spec.regions[0].name
    parameters = tuple(
        Parameter(name=f"{region}.{name}", values=values, group="memory" if name.startswith("memory") else "tiling")
        for name, values in AXES.items()
    )
    workload = analyse(problem, POLICY, store)
    return Task(problem, workload, skeleton.source, SearchSpace(parameters=parameters), device)


def searched(of: Task, store: Store, points: int = POINTS) -> SearchResult:
    """The search as a run does it."""
    limits = SearchLimits(points=points, seconds=SECONDS)
    return tune(
        of.problem, of.source, of.device, POLICY, store, space=of.space, workload=of.workload, limits=limits
    )  # fmt: skip


def _search(of: Task) -> Json:
    with tempfile.TemporaryDirectory(prefix="egg-search-") as folder:
        began = monotonic()
        result = searched(of, Store(Path(folder) / "run", Path(folder) / "cache"))
        seconds = monotonic() - began
    points = [
        {**point.model_dump(mode="json", exclude_none=True), "chosen": point is result.best} for point in result.points
    ]
    return {"seconds": round(seconds, 2), "told": result.told(), "measured": result.measured, "points": points}


def _every(of: Task, found: Json) -> Json:
    """Each point that compiles, those that the search pruned too: its ratio to the kernel as it is."""
    names, written = _different(of, found)
    ratios: dict[str, float] = {}
    start = names[0]
    began = monotonic()
    with stand(_job(of)) as opened:
        others = names[1:]
        for group in (others[first : first + AT_ONCE - 1] for first in range(0, len(others), AT_ONCE - 1)):
            times = opened.times({name: written[name] for name in (start, *group)}, EVERY_ROUNDS, EVERY_SHARE)
            if start not in times.median_ms:
                raise RuntimeError(f"the kernel as it is cannot be timed: {times.failed.get(start, 'no reason given')}")
            ratios |= {name: ms / times.median_ms[start] for name, ms in times.median_ms.items()}
    return {"ratios": ratios, "seconds": round(monotonic() - began, 2)}


def _last(of: Task, found: Json, every: Json) -> Json:
    """The search's choice beside the best of all, in new processes and for longer."""
    _, written = _different(of, found)
    choice = next(point["kernel"] for point in found["points"] if point["chosen"])
    best = sorted(every["ratios"], key=lambda name: every["ratios"][name])[:BEST]
    names = dict.fromkeys((choice, *best))
    with stand(_job(of)) as opened:
        times: Times = opened.times({name: written[name] for name in names}, LAST_ROUNDS, LAST_SHARE)
    fastest = min(times.median_ms.values())
    return {"choice": choice, "median_ms": times.median_ms, "behind": times.median_ms[choice] / fastest - 1}


def _different(of: Task, found: Json) -> tuple[list[str], dict[str, str]]:
    """Ids of the kernels that compile, the one as it is first, and all sources by id."""
    alive = [p for p in found["points"] if p.get("estimate_ms") is not None and p["status"] != PointStatus.SAME]
    values: list[Values] = [point["values"] for point in alive]
    written = sources(of.problem, of.source, values, of.device, POLICY, Store())
    by_id = {point["kernel"]: source for point, source in zip(alive, written, strict=True) if source is not None}
    return list(by_id), by_id


def _job(of: Task) -> Job:
    return Job(of.problem, of.device, POLICY, reader(of.device.uuid))


def _killed(device: Device) -> Json:
    """A search that is killed as soon as it times (without a GPU: compiles), and goes on."""
    with tempfile.TemporaryDirectory(prefix="egg-killed-") as folder:
        wanted = {"brief": 1} if device.present else {"point": 2}
        before = _one(Path(folder), wanted)
        after = _one(Path(folder), {})
    return twice(before, after)


def twice(before: list[Json], after: list[Json]) -> Json:
    """From the journal at the kill and at the end: what was done, and what was done more than once."""
    done = Counter((line["kind"], line["key"]) for line in after if line["kind"] in WORK)
    return {
        "before": dict(Counter(line["kind"] for line in before if line["kind"] in WORK)),
        "after": dict(Counter(line["kind"] for line in after if line["kind"] in WORK)),
        "twice": [list(work) for work, times in done.items() if times > 1],
    }


def _one(folder: Path, wanted: dict[str, int]) -> list[Json]:
    """The journal after one life, which ends when so much of each kind is in it, else by itself.

    Raises:
        RuntimeError: it failed, or ended before it could be killed.
    """
    command = [sys.executable, "-m", "egg.evals.search_check", "--one", str(folder)]
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    until = monotonic() + PATIENCE_S
    try:
        while process.poll() is None and monotonic() < until:
            seen = Counter(line["kind"] for line in _journal(folder))
            if wanted and all(seen[kind] >= count for kind, count in wanted.items()):
                return _journal(folder)
            sleep(0.05)
        if wanted or process.poll() != 0:
            raise RuntimeError(f"the search to be killed ended by itself with {process.poll()}")
        return _journal(folder)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _journal(folder: Path) -> list[Json]:
    path = folder / "run" / "journal.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def summary(parts: dict[str, Json]) -> Json:
    """What was promised, and what came of it."""
    search = parts.get("search", {})
    chosen = next((point for point in search.get("points", ()) if point["chosen"]), None)
    return {
        "points": len(search.get("points", ())),
        "seconds": search.get("seconds"),
        "measured": search.get("measured", False),
        "choice": spelled(chosen["values"]) if chosen else None,
        "behind": parts.get("last", {}).get("behind"),
        "twice": len(parts["killed"]["twice"]) if "killed" in parts else None,
    }


def told(found: Json) -> str:
    """The summary in a few lines."""
    lines = ["no GPU here: nothing was searched but to be killed"]
    if found["measured"]:
        lines = [f"{found['points']} points in {found['seconds']} s: {found['choice']}"]
    if found["behind"] is not None:
        lines.append(f"its choice takes {found['behind']:+.1%} beside the best of all")
    if found["twice"] is not None:
        lines.append(f"after a kill and a resume {found['twice']} pieces of work were done twice")
    return "\n".join(lines)


def passed(found: Json) -> bool:
    """Whether this is what was promised; on a machine without a GPU only that nothing was done twice."""
    if not found["measured"]:
        return bool(found["twice"] == 0)
    return bool(
        found["points"] == POINTS and found["seconds"] < SECONDS and found["behind"] <= WITHIN and found["twice"] == 0
    )


def main() -> int:
    """Search, time everything, kill, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="results file; what it holds already is not done again")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        device = detect_device(None)
        parts = Parts(options.out, "python -m egg.evals.search_check", device, POLICY, VERSION) if options.out else None
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    if options.one:
        searched(task(device, Store()), Store(options.one / "run", options.one / "cache"), KILLED_POINTS)
        shutdown()
        return 0
    if parts is None:
        parser.error("--out is missing")
    of: Any = [library_version(), json.loads(json.dumps(AXES))]
    if device.present:  # else compiling 48 points takes minutes and says nothing
        job = task(device, Store())
        search = parts.get("search", partial(_search, job), of)
        print(search["told"], flush=True)
        every = parts.get("every", partial(_every, job, search), of)
        parts.get("last", partial(_last, job, search, every), of)
    parts.get("killed", partial(_killed, device), of)
    found = summary(parts.found)
    parts.write({"summary": found})
    print(told(found))
    shutdown()
    return 0 if passed(found) else 1


if __name__ == "__main__":
    stoppable(main)
