"""Hostile candidates in a row, and what each leaves behind: it must be nothing, and the next honest one must pass."""

import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from egg.evals.corpus import left_behind, named
from egg.evals.trial import numbers
from egg.state.device import Device
from egg.state.settings import Policy
from egg.tools.correctness.verify import check, mode
from egg.tools.folders import MEMORY
from egg.tools.problem import load_problem
from egg.tools.store import Store

SECONDS = {"hang": 1.0, "endless_kernel": 4.0, "stops_itself": 1.0, "deadlocks": 1.0, "floods_output": 20.0}
"""Short limits, so that hundreds fit into minutes. Others end by themselves."""
KINDS = (
    "hang",
    "illegal_access",
    "memory_bomb",
    "asks_for_too_much",
    "forks_many",
    "fills_disk",
    "floods_output",
    "kills_parents_group",
    "endless_kernel",
    "leaves_daemon",
    "crashes",
    "hoards_memory",
    "starts_many_threads",
    "writes_outside",
)
HONEST = "control_scaled_add"
PATIENCE_S = 5.0
"""For the driver, which gives memory back a little after a process is gone."""
SLACK_BYTES = 64 << 20


def sequence(count: int, device: Device, folder: Path) -> dict[str, Any]:
    """`count` of them one after the other: how each ended, and the faults found after it.

    Raises:
        MachineError: the judge itself failed.
    """
    cases = [case for case in (named("cheats", kind) for kind in KINDS) if case.runs_on(mode(device))]
    honest, began = named("cheats", HONEST), monotonic()
    problem, found, ended = load_problem(honest.problem), [], Counter[str]()
    with _own_scratch(folder / "scratch") as scratch:
        watched = Traces(device, scratch)
        for number in range(-1, count):  # the first honest one shows what is there in peace
            case = cases[number % len(cases)]
            store = Store(folder / "hostile", folder / "hostile" / str(number))
            if number >= 0:
                seen = numbers(case, problem, device, store, seconds=SECONDS.get(case.name, 15.0))
                ended[f"{case.name}: {seen.status}"] += 1
                if seen.status not in case.expected:
                    found.append(f"{number} {case.name}: ended {seen.status}")
                found += [f"{number} {case.name}: {left}" for left in watched.left()]
                if left_behind(case):
                    found.append(f"{number} {case.name}: left {case.leaves}")
            after = check(problem, honest.source, device, Policy.STOCK, store, cases="quick", seconds=30.0)
            if not after.ok:
                found.append(
                    f"{number} {case.name}: the next honest candidate is {after.status}: {after.feedback[:200]}"
                )
            if number < 0:
                watched.remember()
    minutes = (monotonic() - began) / 60
    told = f"hostile: {count} in {minutes:.1f} min, {len(found)} faults" + "".join(f"\n  {line}" for line in found[:20])
    return {"count": count, "minutes": round(minutes, 2), "ended": dict(ended), "faults": found, "clean": not found} | {
        "told": told
    }


@contextmanager
def _own_scratch(folder: Path) -> Iterator[Path]:
    """All temporary folders of this process in one place of its own."""
    folder.mkdir()
    usual, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = usual


class Traces:
    """Processes below this one, files in scratch folders, memory of the GPU."""

    def __init__(self, device: Device, scratch: Path) -> None:
        self.device, self.scratch = device, scratch
        self.memory_before = set(_names(Path(MEMORY)))
        self.processes, self.files = 0, 0
        self.used: int | None = None

    def remember(self) -> None:
        """What is there while nothing runs: warm processes, their homes, a driver's own memory."""
        self.processes, self.files, self.used = self._now()

    def left(self) -> list[str]:
        """What is there beyond that; waits a little for what is about to go."""
        until = monotonic() + PATIENCE_S
        while (found := self._beyond()) and monotonic() < until:
            sleep(0.1)
        return found

    def _beyond(self) -> list[str]:
        processes, files, used = self._now()
        found = []
        if processes > self.processes:
            found.append(f"{processes - self.processes} processes are left")
        if files > self.files:
            found.append(f"{files - self.files} files are left in scratch folders")
        if used is not None and self.used is not None and used > self.used + SLACK_BYTES:
            found.append(f"{(used - self.used) >> 20} MiB of GPU memory are left")
        return found

    def _now(self) -> tuple[int, int, int | None]:
        ours = [name for name in _names(Path(MEMORY)) if name not in self.memory_before and name.startswith("egg-")]
        files = sum(1 for _ in self.scratch.iterdir()) + len(ours)
        return descendants(), files, used_bytes(self.device)


def descendants() -> int:
    """Processes below this one, zombies not counted."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(status.parent.name)] = int(fields[1])
    mine, new = {_self()}, {_self()}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new}
        mine |= new
    return len(mine) - 1


def used_bytes(device: Device) -> int | None:
    """Memory of the GPU in use, whoever uses it; None without a GPU, or where nvidia-smi is missing."""
    if not device.present:
        return None
    asked = ["nvidia-smi", f"--id={device.uuid}", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        said = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=True).stdout
        return int(said.strip()) << 20
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _self() -> int:
    return int(Path("/proc/self").readlink().name)


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()] if folder.is_dir() else []
