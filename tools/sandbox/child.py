"""The life of a forked child: confine itself, run one task, answer, end."""

import errno
import faulthandler
import importlib
import inspect
import json
import os
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from egg.tools.errors import NO_MEMORY, CandidateError
from egg.tools.sandbox.channel import LOST_CODE, Channel, Closed
from egg.tools.sandbox.confine import confine
from egg.tools.sandbox.layers import Layer
from egg.tools.sandbox.records import Bounds, State

NO_PROCESS = ("can't start new thread", "Resource temporarily unavailable")
NO_ROOM = (errno.EFBIG, errno.ENOSPC, errno.EDQUOT)
TRACEBACK_CHARS = 6000


def find(task: str) -> Callable[..., Any]:
    """The function that `package.module:function` names."""
    module, _, name = task.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def live(
    task: str, bounds: Bounds, layers: Sequence[Layer], payload_fd: int, channel_fd: int, output_fd: int
) -> NoReturn:
    """Never returns, and skips Python's exit work: it takes a quarter of a second with PyTorch loaded."""
    code = 1
    try:
        channel = Channel(socket.socket(fileno=channel_fd))
        _redirect(output_fd)
        with open(payload_fd, "rb") as file:
            payload = json.loads(file.read())
        _close_above(2, keep=channel_fd)
        _settle_in(bounds.folder or "/")
        try:
            confine(bounds, layers)
        except OSError as error:
            channel.send({"state": "unconfined", "error": str(error)})
            raise
        channel.send({"state": "confined"})
        sys.dont_write_bytecode = True  # what is loaded here is gone when its file is
        faulthandler.enable()
        _answer(task, payload, channel)
        code = 0
    except Closed:
        code = LOST_CODE
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _settle_in(folder: str) -> None:
    os.chdir(folder)
    caches = {"TRITON_CACHE_DIR": ".triton", "TORCHINDUCTOR_CACHE_DIR": ".inductor"}
    os.environ.update({name: os.path.join(folder, place) for name, place in caches.items()})
    os.environ.update(HOME=folder, TMPDIR=folder)
    tempfile.tempdir = None


def _answer(task: str, payload: dict[str, Any], channel: Channel) -> None:
    function = find(task)
    if not inspect.isgeneratorfunction(function):
        channel.send(_attempt(lambda: function(payload)))
        return
    worker = function(payload)
    reply = _attempt(lambda: next(worker))
    channel.send(reply)
    while reply["state"] == "done":
        message = channel.receive()
        reply = _attempt(partial(worker.send, message))
        channel.send(reply)


def _attempt(step: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        value = step()
        json.dumps(value)
        return {"state": "done", "value": value}
    except BaseException as error:  # a child's outermost line: whatever it was, it is an answer
        return _failure(error)


def _failure(error: BaseException) -> dict[str, Any]:
    message = _words(error)
    value: dict[str, Any] = {"type": type(error).__name__, "message": message, "traceback": _trace(error)}
    if isinstance(error, CandidateError):
        faults = [fault.model_dump(mode="json") for fault in error.faults]
        value |= {"status": error.status.value, "feedback": error.feedback, "faults": faults}
    line = f"{type(error).__name__}: {message}".strip().splitlines()[0][:500]
    return {"state": _state(error), "value": value, "error": line}


def _words(error: BaseException) -> str:
    """What it says, cut short: it may be a candidate's, of any length, and may itself raise."""
    try:
        return str(error)[:TRACEBACK_CHARS]
    except Exception:
        return ""


def _trace(error: BaseException) -> str:
    """The end of its traceback and of those it came from, as Python prints them, with their words cut short."""
    parts: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(parts) < 64:
        parts.append("".join([*traceback.format_tb(seen.__traceback__), f"{type(seen).__name__}: {_words(seen)}\n"]))
        seen = seen.__cause__
    return "\n".join(reversed(parts))[-TRACEBACK_CHARS:]


def _state(error: BaseException) -> State:
    """What an exception comes from, at the bottom: a limit of ours, or its own trouble."""
    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, MemoryError) or any(sign in _words(error) for sign in NO_MEMORY):
        return "out_of_memory"
    if isinstance(error, PermissionError):
        return "forbidden"
    if isinstance(error, BlockingIOError) or any(sign in _words(error) for sign in NO_PROCESS):
        return "process_limit"
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return "disk_limit"
    return "raised"


def _redirect(output_fd: int) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)


def _close_above(last: int, keep: int) -> None:
    # os.closerange(0, 0) would close everything on Python 3.11.
    for low, high in ((last + 1, keep), (keep + 1, 1 << 16)):
        if low < high:
            os.closerange(low, high)
