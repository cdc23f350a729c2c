"""The few calls of the C library that Python has no function for."""

import ctypes
import os
import re
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
_libc = ctypes.CDLL(None, use_errno=True)


def call(function: str, *args: Any) -> int:
    """What `function` of the C library returns.

    Raises:
        OSError: it returned -1.
    """
    result = int(getattr(_libc, function)(*args))
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), function)
    return result


def prctl(option: int, value: int) -> None:
    """Set an attribute of the calling process.

    Raises:
        OSError: the kernel refuses.
    """
    call("prctl", option, *(ctypes.c_ulong(v) for v in (value, 0, 0, 0)))


PID_MAX_APART = (6, 14)
"""Release from which every process namespace has a highest process id of its own."""


def linux_release() -> tuple[int, int]:
    """Major and minor of the running kernel; zeros for a name that says neither."""
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return (int(found[1]), int(found[2])) if found else (0, 0)
