"""How the warm parent ends a child with everything that it started."""

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress

from egg.tools.sandbox.spawn import Child
from egg.tools.sandbox.watch import below, children

PATIENCE_S = 30.0
"""How long a killed process may take to be gone: a driver may still be at work for it."""
POLL_S = 0.002


class Undead(Exception):
    """A killed process does not go away: the machine is at fault."""


def end(child: Child, grace: float = 0.0) -> int | None:
    """Kill a child and all it started, after waiting `grace` seconds for it to end by itself.

    Its exit code, negative for a signal; None if it had to be killed.

    Raises:
        Undead: the kernel does not let it go.
    """
    by_itself = _dead_within(child.pid, grace)
    if child.init is not None:
        os.kill(child.init, signal.SIGKILL)  # and with it, at once, its whole world
    else:
        _kill_tree(child.pid)
    code = _collect(child.pid)
    if child.init is not None:
        _collect(child.init)  # only after the child: the kernel keeps an init until its world is empty
    if child.life is not None:
        os.close(child.life)
    return code if by_itself else None


def end_strays(known: Iterable[int]) -> None:
    """Kill whatever left its group and lost its parent: it is our child now, and nobody's task."""
    kept = set(known)
    while strays := set(children(os.getpid())) - kept:
        for pid in strays:
            _kill_tree(pid)
            _collect(pid)


def _kill_tree(pid: int) -> None:
    """First stop all, until no more come, so that no fork escapes between looking and killing."""
    stopped: set[int] = set()
    while fresh := {pid, *below(pid)} - stopped:
        for one in fresh:
            _send(one, signal.SIGSTOP)
        stopped |= fresh
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    for one in stopped:
        _send(one, signal.SIGKILL)


def _send(pid: int, what: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, what)


def _dead_within(pid: int, seconds: float) -> bool:
    """Leaves the dead as a zombie, so that its id cannot be another's when it is killed."""
    deadline = time.monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_S)
    return True


def _collect(pid: int) -> int:
    if not _dead_within(pid, PATIENCE_S):
        raise Undead(f"process {pid} is still there {PATIENCE_S:g} s after it was killed")
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
