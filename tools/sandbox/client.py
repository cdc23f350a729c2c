"""Run a task in a child of its own: `run` for one answer, `open_worker` for a conversation.

The caller never loads PyTorch, Triton or a candidate. A task is a function `package.module:name` of ours that takes a
JSON-able dict and returns one; a worker's task is a generator that yields its first answer when it is set up, is sent
a message, and yields the next. Answers come over a private socket as JSON; what a child prints is kept only for
people to read.
"""

import atexit
import os
import threading
from collections.abc import Mapping
from typing import Any

from egg.state.errors import MachineError
from egg.tools.sandbox.parent import Lost, Zygote
from egg.tools.sandbox.records import USUAL, Bounds, Reply
from egg.tools.sandbox.worker import Worker

__all__ = ["Bounds", "Reply", "Worker", "open_worker", "prepare", "run", "shutdown"]

_lock = threading.Lock()
_zygotes: dict[tuple[int, bool], Zygote] = {}


def prepare(*, interpret: bool) -> None:
    """Start the warm process without waiting for it: about a second and a half before it is needed."""
    _zygote(interpret)


def run(task: str, payload: Mapping[str, Any], bounds: Bounds = USUAL, *, interpret: bool = False) -> Reply:
    """One answer from a fresh child, which is gone with all its descendants when this returns.

    Raises:
        MachineError: no child could be started.
    """
    reply, lost = _run_once(task, payload, bounds, interpret)
    if lost:  # by another thread's candidate, perhaps: whoever kills its parent does so again
        reply, _ = _run_once(task, payload, bounds, interpret)
    return reply


def open_worker(task: str, payload: Mapping[str, Any], bounds: Bounds = USUAL, *, interpret: bool = False) -> Worker:
    """A child that stays; use it as a context manager. `worker.opened` is its first answer.

    Raises:
        MachineError: no child could be started.
    """
    for _ in range(2):
        zygote = _zygote(interpret)
        try:
            return Worker(zygote, task, payload, bounds)
        except Lost:
            complaint = zygote.complaint()
            _forget(zygote)
    raise MachineError(f"the process that loads PyTorch and Triton does not start: {complaint}")


def shutdown() -> None:
    """End every child of this process."""
    with _lock:
        mine = [key for key in _zygotes if key[0] == os.getpid()]
        closing = [_zygotes.pop(key) for key in mine]
    for zygote in closing:
        zygote.close()


def _run_once(task: str, payload: Mapping[str, Any], bounds: Bounds, interpret: bool) -> tuple[Reply, bool]:
    with open_worker(task, payload, bounds, interpret=interpret) as worker:
        reply = worker.opened
    if worker.lost:
        _forget(worker.zygote)
    return reply, worker.lost


def _zygote(interpret: bool) -> Zygote:
    key = (os.getpid(), interpret)
    with _lock:
        if key not in _zygotes:
            _zygotes[key] = Zygote(interpret=interpret)
        return _zygotes[key]


def _forget(zygote: Zygote) -> None:
    with _lock:
        keys = [key for key, known in _zygotes.items() if known is zygote]
        for key in keys:
            del _zygotes[key]
    if keys:
        zygote.close()


atexit.register(shutdown)
