"""The warm processes of this process: one for Triton's interpreter, one for compiling and the GPU."""

import atexit
import os
import threading

from egg.tools.sandbox.parent import Zygote

_lock = threading.Lock()
_zygotes: dict[tuple[int, bool], Zygote] = {}


def warm(interpret: bool) -> Zygote:
    """The one for this mode, started if need be."""
    key = (os.getpid(), interpret)
    with _lock:
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


def shutdown() -> None:
    """End every child of this process."""
    with _lock:
        mine = [key for key in _zygotes if key[0] == os.getpid()]
        closing = [_zygotes.pop(key) for key in mine]
    for zygote in closing:  # all at once, since each may take its time
        zygote.hang_up()
    for zygote in closing:
        zygote.close()


atexit.register(shutdown)
