"""What all processes of one child use together, seen from the warm parent. Nothing here trusts the child."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from egg.tools.sandbox.records import Bounds, State

SECONDS = 0.05
"""Between two looks."""
SLACK_BYTES = 64 << 20
"""Of memory beyond the limit, since pages of the warm parent's count once for each process."""
MOST_FILES = 20_000
GONE, MEMORY = " (deleted)", ("/memfd:", "/dev/zero", "/SYSV")


class Breach(NamedTuple):
    """A limit that was passed."""

    state: State
    what: str


class Usage(NamedTuple):
    """Of one process: bytes of its own memory and of memory it shares, without files."""

    threads: int
    memory_bytes: int


def breach(pid: int, bounds: Bounds, warm_bytes: int, *, thorough: bool = True) -> Breach | None:
    """The limit that the child `pid` has passed with all its descendants, or None.

    `warm_bytes`: what every forked process shares with the warm parent. `thorough`: look for deleted files that are
    only mapped, too, which takes milliseconds.
    """
    tree = [pid, *descendants(pid)]
    if len(tree) > bounds.processes:
        return Breach("process_limit", f"{len(tree)} processes, {bounds.processes} are allowed")
    used = [usage(one) for one in tree]
    if (threads := sum(one.threads for one in used)) > bounds.threads:
        return Breach("process_limit", f"{threads} threads, {bounds.threads} are allowed")
    allowed = bounds.memory_bytes + warm_bytes + SLACK_BYTES
    if sum(one.memory_bytes for one in used) > allowed and (total := sum(map(_proportional, tree))) > allowed:
        return Breach("out_of_memory", f"{total >> 20} MiB of memory, {bounds.memory_bytes >> 20} are allowed")
    files = _named_files(bounds.folder)
    if len(files) >= MOST_FILES:
        return Breach("disk_limit", f"{MOST_FILES} files")
    files |= (_mapped_files(tree) if thorough else {}) | _open_files(tree)
    if (written := sum(files.values())) > bounds.most_disk_bytes:
        return Breach("disk_limit", f"{written >> 20} MiB in files, {bounds.most_disk_bytes >> 20} are allowed")
    return None


def descendants(pid: int) -> list[int]:
    """Every process below `pid`."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = list(children(waiting.pop()))
        found += below
        waiting += below
    return found


def children(pid: int) -> Iterator[int]:
    """Of one process, whichever of its threads started them."""
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError):
                yield from map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())


def usage(pid: int) -> Usage:
    """Zeros for a process that is gone."""
    threads = memory = 0
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "Threads":
                threads = int(value)
            elif name in ("RssAnon", "RssShmem"):
                memory += int(value.split()[0]) << 10
    return Usage(threads, memory)


def _proportional(pid: int) -> int:
    """Memory as in `usage`, but a page that several processes have is split between them. Walks all mappings."""
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))
    return usage(pid).memory_bytes


Sizes = dict[tuple[int, int], int]
"""Bytes that files take, by device and inode."""


def _named_files(folder: str | None) -> Sizes:
    sizes: Sizes = {}
    waiting = [folder] if folder else []
    while waiting and len(sizes) < MOST_FILES:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    _note(sizes, entry.stat(follow_symlinks=False))
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return sizes


def _open_files(tree: Iterable[int]) -> Sizes:
    """Those that have no name any more, or never had one."""
    sizes: Sizes = {}
    for pid in tree:
        with suppress(OSError):
            for fd in os.listdir(f"/proc/{pid}/fd"):
                with suppress(OSError):
                    about = os.stat(f"/proc/{pid}/fd/{fd}")
                    if stat.S_ISREG(about.st_mode) and not about.st_nlink:
                        _note(sizes, about)
    return sizes


def _mapped_files(tree: Iterable[int]) -> Sizes:
    """Those that have no name and are not open either; what of them is mapped."""
    sizes: Sizes = {}
    for pid in tree:
        with suppress(OSError, ValueError):
            for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
                if line.endswith(GONE) and not any(kind in line for kind in MEMORY):
                    span, _, _, device, inode = line.split()[:5]
                    start, end = (int(part, 16) for part in span.split("-"))
                    major, minor = (int(part, 16) for part in device.split(":"))
                    key = os.makedev(major, minor), int(inode)
                    sizes[key] = sizes.get(key, 0) + end - start
    return sizes


def _note(sizes: Sizes, about: os.stat_result) -> None:
    sizes[about.st_dev, about.st_ino] = about.st_blocks * 512
