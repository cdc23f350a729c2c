"""Run a task in a child of its own: `run` for one answer, `open_worker` for a conversation.

The caller never loads PyTorch, Triton or a candidate. A task is a function `package.module:name` of ours that takes a
JSON-able dict and returns one; a worker's task is a generator that yields its first answer when it is set up, is sent
a message, and yields the next. Answers come over a private socket as JSON; what a child prints is kept only for
people to read.

Every child is shut in as `isolation` says before anything unread is loaded into it. Not contained: the interface of
the GPU's driver, for the children that may use it.
"""

from collections.abc import Mapping
from typing import Any

from egg.state.errors import MachineError
from egg.tools.sandbox.isolation import in_force
from egg.tools.sandbox.parent import Lost
from egg.tools.sandbox.pool import forget, shutdown, warm
from egg.tools.sandbox.records import USUAL, Bounds, Reply
from egg.tools.sandbox.worker import Worker

__all__ = ["Bounds", "Reply", "Worker", "open_worker", "prepare", "run", "shutdown"]


def prepare(*, interpret: bool) -> None:
    """Start the warm process without waiting for it: about a second and a half before it is needed."""
    warm(interpret)


def run(task: str, payload: Mapping[str, Any], bounds: Bounds = USUAL, *, interpret: bool = False) -> Reply:
    """One answer from a fresh child, which is gone with all its descendants when this returns.

    Raises:
        UserError: this machine does not offer the isolation that is asked for.
        MachineError: no child could be started.
    """
    reply, lost = _run_once(task, payload, bounds, interpret)
    if lost:  # by another thread's candidate, perhaps: whoever kills its parent does so again
        reply, _ = _run_once(task, payload, bounds, interpret)
    return reply


def open_worker(task: str, payload: Mapping[str, Any], bounds: Bounds = USUAL, *, interpret: bool = False) -> Worker:
    """A child that stays; use it as a context manager. `worker.opened` is its first answer.

    Raises:
        UserError: this machine does not offer the isolation that is asked for.
        MachineError: no child could be started.
    """
    layers = in_force(interpret)
    for _ in range(2):
        zygote = warm(interpret)
        try:
            return Worker(zygote, task, payload, bounds, layers)
        except Lost:
            complaint = zygote.complaint()
            forget(zygote)
    raise MachineError(f"the process that loads PyTorch and Triton does not start: {complaint}")


def _run_once(task: str, payload: Mapping[str, Any], bounds: Bounds, interpret: bool) -> tuple[Reply, bool]:
    with open_worker(task, payload, bounds, interpret=interpret) as worker:
        reply = worker.opened
    if worker.lost:
        forget(worker.zygote)
    return reply, worker.lost
