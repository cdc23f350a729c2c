"""The warm processes of this process: one for Triton's interpreter, one for compiling and the GPU."""

import atexit
import os
import threading

from egg.state.errors import MachineError
from egg.tools.sandbox.parent import Zygote

_lock = threading.Lock()
_over: set[int] = set()
"""Processes that start no more of them."""
_zygotes: dict[tuple[int, bool], Zygote] = {}


def warm(interpret: bool) -> Zygote:
    """The one for this mode, started if need be.

    Raises:
        MachineError: this process is about to end.
    """
    key = (os.getpid(), interpret)
    with _lock:
        if key[0] in _over:
            raise MachineError("this process is about to end")
        if key not in _zygotes:
            _zygotes[key] = Zygote(interpret=interpret)
        return _zygotes[key]


def forget(zygote: Zygote) -> None:
    """End one, so that the next request starts another."""
    with _lock:
        keys = [key for key, known in _zygotes.items() if known is zygote]
        for key in keys:
            del _zygotes[key]
    if keys:
        zygote.close()


def shutdown(*, for_good: bool = False) -> None:
    """End every child of this process; `for_good`: other threads, which may be at work yet, start no further ones."""
    with _lock:
        if for_good:
            _over.add(os.getpid())
        mine = [key for key in _zygotes if key[0] == os.getpid()]
        closing = [_zygotes.pop(key) for key in mine]
    for zygote in closing:  # all at once, since each may take its time
        zygote.hang_up()
    for zygote in closing:
        zygote.close()


atexit.register(shutdown)
