"""The life of a forked child: confine itself, run one task, answer, end."""

import faulthandler
import importlib
import inspect
import json
import os
import socket
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from egg.tools.errors import CandidateError
from egg.tools.sandbox.channel import Channel, Closed
from egg.tools.sandbox.confine import confine
from egg.tools.sandbox.records import Bounds

NO_MEMORY = ("can't allocate memory", "bad_alloc", "Cannot allocate memory", "CUDA out of memory")
TRACEBACK_CHARS = 6000


def find(task: str) -> Callable[..., Any]:
    """The function that `package.module:function` names."""
    module, _, name = task.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def live(task: str, bounds: Bounds, parent: int, payload_fd: int, channel_fd: int, output_fd: int) -> NoReturn:
    """Never returns, and skips Python's exit work: it takes a quarter of a second with PyTorch loaded."""
    code = 1
    try:
        confine(bounds, parent)
        _redirect(output_fd)
        with open(payload_fd, "rb") as file:
            payload = json.loads(file.read())
        _close_above(2, keep=channel_fd)
        os.chdir(bounds.folder or "/")
        os.environ["TRITON_CACHE_DIR"] = os.path.join(bounds.folder or "/", ".triton")
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(bounds.folder or "/", ".inductor")
        os.environ["HOME"] = bounds.folder or "/"
        faulthandler.enable()
        _answer(task, payload, Channel(socket.socket(fileno=channel_fd)))
        code = 0
    except Closed:
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


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
    message = str(error)
    no_memory = isinstance(error, MemoryError) or any(sign in message for sign in NO_MEMORY)
    value: dict[str, Any] = {
        "type": type(error).__name__,
        "message": message[:TRACEBACK_CHARS],
        "traceback": "".join(traceback.format_exception(error))[-TRACEBACK_CHARS:],
    }
    if isinstance(error, CandidateError):
        value |= {"status": error.status.value, "feedback": error.feedback}
    line = f"{type(error).__name__}: {message}".strip().splitlines()[0][:500]
    return {"state": "out_of_memory" if no_memory else "raised", "value": value, "error": line}


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
