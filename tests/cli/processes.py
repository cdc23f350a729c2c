"""What is alive on this machine, from /proc."""

import os
from pathlib import Path


def descendants(pid: int) -> set[int]:
    """Processes below `pid`, whatever session they have moved to."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (found := _parent(int(entry.name))):
            children.setdefault(found, []).append(int(entry.name))
    below: set[int] = set()
    todo = [pid]
    while todo:
        for child in children.get(todo.pop(), ()):
            below.add(child)
            todo.append(child)
    return below


def alive(pids: set[int]) -> set[int]:
    """Those of `pids` that still run. A zombie does not, nor does the first process of a namespace that only waits for
    others' zombies to be collected."""
    return {pid for pid in pids if _state(pid) not in (None, "Z", "X") and not _is_exiting(pid)}


def _fields(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _state(pid: int) -> str | None:
    return next(iter(_fields(pid)), None)


def _parent(pid: int) -> int | None:
    fields = _fields(pid)
    return int(fields[1]) if len(fields) > 1 and pid != os.getpid() else None


def _is_exiting(pid: int) -> bool:
    """Whether the kernel is taking it down (PF_EXITING in sched.h): no code of its own runs any more."""
    fields = _fields(pid)
    return len(fields) > 6 and bool(int(fields[6]) & 4)
