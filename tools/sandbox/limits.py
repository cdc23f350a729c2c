"""What the kernel itself counts for one process: the watch in the warm parent sees to the whole tree."""

import os
import resource
from contextlib import suppress
from pathlib import Path

from egg.tools.sandbox.records import Bounds

DESCRIPTORS = 1024
USUAL_PRIORITY = os.getpriority(os.PRIO_PROCESS, 0)
"""Before the warm parent takes a higher one."""


def limit(bounds: Bounds, *, interpret: bool) -> None:
    """Limits of the calling process and of each that it starts."""
    os.setpriority(os.PRIO_PROCESS, 0, USUAL_PRIORITY)
    # CUDA reserves address space by the tens of gigabytes, so only the interpreter's children have it limited.
    pages = resource.RLIMIT_AS if interpret else resource.RLIMIT_DATA
    lower(pages, _mapped(pages) + bounds.memory_bytes)
    lower(resource.RLIMIT_FSIZE, bounds.most_disk_bytes)
    lower(resource.RLIMIT_NOFILE, DESCRIPTORS)
    for nothing in (resource.RLIMIT_CORE, resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE):
        lower(nothing, 0)
    with suppress(OSError):  # a machine short of memory ends the candidate first
        Path("/proc/self/oom_score_adj").write_text("1000")


def lower(limit: int, value: int) -> None:
    """Set a limit, never above what is inherited."""
    _, hard = resource.getrlimit(limit)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (value, value))


def interpreting() -> bool:
    """Whether this process is for Triton's interpreter; decided when it was started."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def _mapped(limit: int) -> int:
    field = "VmSize:" if limit == resource.RLIMIT_AS else "VmData:"
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) << 10
    return 0
