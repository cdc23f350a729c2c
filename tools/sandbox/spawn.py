"""How the warm parent gets a new child: a plain fork, or one into a world of processes of its own.

A new world needs three forks. The first process only leaves the old namespaces, and then is gone. The second is the
first of the new world, its init: it mounts /proc, takes in orphans, and ends everything there when it is ended, or when
the warm parent is gone. The third is the child. Both become children of the warm parent, which has adopted orphans.
"""

import json
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from egg.tools.sandbox import namespaces
from egg.tools.sandbox.capabilities import drop_all
from egg.tools.sandbox.files import TEMPORARY, reachable
from egg.tools.sandbox.layers import Layer
from egg.tools.sandbox.linux import (
    PID_MAX_APART,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    linux_release,
    prctl,
)
from egg.tools.sandbox.records import Bounds

GO, READY = b"g", b"r"
RESERVED = 300
"""Ids that the kernel does not count on."""


@dataclass(frozen=True)
class Child:
    """Ids as the warm parent sees them. `life`: the descriptor whose end ends the init's world."""

    pid: int
    init: int | None = None
    life: int | None = None

    @property
    def roots(self) -> tuple[int, ...]:
        """The processes below which all that it started is found."""
        return (self.pid,) if self.init is None else (self.pid, self.init)


def spawn(layers: Sequence[Layer], bounds: Bounds, live: Callable[[], NoReturn]) -> Child:
    """Run `live` in a new process, mortal with this one.

    Raises:
        OSError: a layer of namespaces that was said to work does not.
    """
    if "namespaces" in layers:
        return _spawn_apart("view" in layers or bounds.view, bounds, live)
    me = os.getpid()
    pid = os.fork()
    if pid == 0:
        _die_with(me)
        live()
    return Child(pid)


def _spawn_apart(view: bool, bounds: Bounds, live: Callable[[], NoReturn]) -> Child:
    reader, report = os.pipe()
    life_end, life = os.pipe()
    wait, go = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(life)
        os.close(go)
        _leave(report, life_end, wait, view, bounds, live)
    for fd in (report, life_end, wait):
        os.close(fd)
    with open(reader, "rb") as file:
        said = json.loads(file.read() or b'{"error": "the process died that makes namespaces"}')
    os.waitpid(first, 0)
    if "error" in said:
        os.close(life)
        os.close(go)
        if said.get("init"):
            os.waitpid(said["init"], 0)
        raise OSError(said["error"])
    os.write(go, GO)
    os.close(go)
    return Child(said["pid"], said["init"], life)


def _leave(report: int, life_end: int, wait: int, view: bool, bounds: Bounds, live: Callable[[], NoReturn]) -> NoReturn:
    said: dict[str, int | str] = {}
    try:
        prctl(PR_SET_DUMPABLE, 1)
        namespaces.leave_all()
        if "tcp" in bounds.grants:
            namespaces.raise_loopback()
        said["init"] = _make_init(life_end, view, bounds)
        pid = os.fork()
        if pid == 0:
            os.close(report)
            os.close(life_end)
            if os.read(wait, 1) != GO:
                os._exit(1)
            os.close(wait)
            _die_with(None)
            live()
        said["pid"] = pid
    except OSError as error:
        said["error"] = f"namespaces: {error}"
    os.write(report, json.dumps(said).encode())
    os._exit(0)


def _make_init(life_end: int, view: bool, bounds: Bounds) -> int:
    """Fork the first process of the new world, and wait until /proc is there.

    Raises:
        OSError: it could not be mounted.
    """
    ready, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        _be_init(life_end, told, view, bounds)
    os.close(told)
    with open(ready, "rb") as file:
        said = file.read()
    if said != READY:
        raise OSError(said.decode(errors="replace") or "the init died")
    return pid


def _be_init(life_end: int, told: int, view: bool, bounds: Bounds) -> NoReturn:
    try:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        if view:
            _show_only(bounds)
        else:
            namespaces.fresh_proc()
        if linux_release() >= PID_MAX_APART:  # before, it is the whole machine's
            with suppress(OSError):  # a number of processes and threads that nothing gets past
                Path("/proc/sys/kernel/pid_max").write_text(str(RESERVED + bounds.threads))
        drop_all()
        prctl(PR_SET_DUMPABLE, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans do not stay as zombies
        os.setsid()
    except OSError as error:
        os.write(told, str(error).encode())
        os._exit(1)
    os.write(told, READY)
    for low, high in ((0, life_end), (life_end + 1, 1 << 16)):
        if low < high:
            os.closerange(low, high)
    with suppress(OSError):
        os.read(life_end, 1)
    os._exit(0)


def _show_only(bounds: Bounds) -> None:
    files = reachable(bounds.folder or "/", bounds.reads, programs=True, own_proc=True, runs=bounds.runs)
    folders = tuple(path for path in files.write if not path.startswith("/proc"))
    root = namespaces.empty_root()
    namespaces.see_only((*files.run, *files.read), (*files.devices, *folders), root, empty=TEMPORARY)


def _die_with(parent: int | None) -> None:
    """Be killed when the warm parent dies. From another world it cannot be seen: there it is 0."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)
