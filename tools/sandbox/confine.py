"""The one place where a child gives up rights, before any unread code is loaded.

Contained: wall time (by the parent), memory, file size, output, processes left behind, secrets in the environment.
Not contained yet: the network, reading the user's files, and the GPU driver's own interface.
"""

import ctypes
import os
import resource
import signal
from pathlib import Path

from egg.tools.sandbox.records import Bounds

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
_libc = ctypes.CDLL(None, use_errno=True)


def confine(bounds: Bounds, parent: int) -> None:
    """Make the calling process the leader of its own group, mortal with `parent`, and limited."""
    os.setsid()
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
    _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # CUDA reserves address space by the tens of gigabytes, so only the interpreter's children have it limited.
    pages = resource.RLIMIT_AS if os.environ.get("TRITON_INTERPRET") == "1" else resource.RLIMIT_DATA
    lower(pages, _mapped(pages) + bounds.memory_bytes)
    lower(resource.RLIMIT_FSIZE, bounds.memory_bytes)
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_NOFILE, 1024)


def adopt_orphans() -> None:
    """Make the calling process the parent of every descendant whose own parent dies, so that none can hide."""
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def lower(limit: int, value: int) -> None:
    """Set a limit, never above what is inherited."""
    _, hard = resource.getrlimit(limit)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (value, value))


def _mapped(limit: int) -> int:
    field = "VmSize:" if limit == resource.RLIMIT_AS else "VmData:"
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) << 10
    return 0
