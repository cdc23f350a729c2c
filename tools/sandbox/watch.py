"""What all processes of one child use together, seen from the warm parent. Nothing here trusts the child."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from egg.tools.sandbox.records import Bounds, State
from egg.tools.sandbox.spawn import Child

SECONDS = 0.05
"""Between two looks."""
SLACK_BYTES = 64 << 20
"""Of memory beyond the limit, before it is held against anyone."""
MOST_FILES = 10_000
LONGEST_PATH = 2000
"""Of a folder. The kernel takes twice as much at once; beneath that nothing would be seen any more."""
GONE, MEMORY = " (deleted)", ("/memfd:", "/dev/zero", "/SYSV")


class Breach(NamedTuple):
    """A limit that was passed."""

    state: State
    what: str


class Usage(NamedTuple):
    """Of one process: bytes of its own memory and of memory it shares, without files."""

    threads: int
    memory_bytes: int


def breach(child: Child, bounds: Bounds, warm_bytes: int, *, thorough: bool = True) -> Breach | None:
    """The limit that a child has passed with all that it started, or None.

    `warm_bytes`: what every process that was forked, and nothing more, shares with the warm parent. `thorough`: look
    for deleted files that are only mapped, too, which takes milliseconds.
    """
    tree = [child.pid]
    for pid in below(*child.roots):  # lazily: of a fork bomb no more than what is too many is ever looked at
        tree.append(pid)
        if len(tree) > bounds.processes:
            return Breach("process_limit", f"more than {bounds.processes} processes")
    used = [usage(one) for one in tree]
    if (threads := sum(one.threads for one in used)) > bounds.threads:
        return Breach("process_limit", f"{threads} threads, {bounds.threads} are allowed")
    memory = sum(
        max(0, one.memory_bytes - (warm_bytes if _forked(pid) else 0)) for pid, one in zip(tree, used, strict=True)
    )
    if memory > bounds.memory_bytes + SLACK_BYTES:
        return Breach("out_of_memory", f"{memory >> 20} MiB of memory, {bounds.memory_bytes >> 20} are allowed")
    try:
        files = _named_files(bounds.folder)
    except Hidden as hidden:
        return Breach("disk_limit", str(hidden))
    if len(files) >= MOST_FILES:
        return Breach("disk_limit", f"{MOST_FILES} files")
    files |= (_mapped_files(tree) if thorough else {}) | _open_files(tree)
    if (written := sum(files.values())) > bounds.most_disk_bytes:
        return Breach("disk_limit", f"{written >> 20} MiB in files, {bounds.most_disk_bytes >> 20} are allowed")
    return None


def below(*roots: int) -> Iterator[int]:
    """Every descendant of these processes, itself not counted."""
    waiting = list(roots)
    while waiting:
        for pid in children(waiting.pop()):
            yield pid
            waiting.append(pid)


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
        for line in Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name == "Threads":
                threads = int(value)
            elif name in ("RssAnon", "RssShmem"):
                memory += int(value.split()[0]) << 10
    return Usage(threads, memory)


def _forked(pid: int) -> bool:
    """Whether it still runs the warm parent's program, whose pages it then shares."""
    try:
        return os.readlink(f"/proc/{pid}/exe") == os.readlink("/proc/self/exe")
    except OSError:
        return True


Sizes = dict[tuple[int, int], int]
"""Bytes that files take, by device and inode."""


def _named_files(folder: str | None) -> Sizes:
    """All, or as many as are too many."""
    sizes: Sizes = {}
    for entry in _entries(folder):
        with suppress(OSError):
            _note(sizes, entry.stat(follow_symlinks=False))
        if len(sizes) >= MOST_FILES:
            break
    return sizes


class Hidden(Exception):
    """A folder whose files cannot be counted."""


def _entries(folder: str | None) -> Iterator[os.DirEntry[str]]:
    waiting = [folder] if folder else []
    while waiting:
        path = waiting.pop()
        if len(path) > LONGEST_PATH:
            raise Hidden(f"folders within folders, {path.count('/')} deep")
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    yield entry
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except PermissionError:
            raise Hidden("a folder that may not be read") from None
        except OSError:
            continue  # it is gone already


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
