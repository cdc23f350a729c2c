"""What children have left behind."""

import os

from egg.tools.sandbox.watch import below


def processes() -> list[str]:
    """Command lines of processes below this one, but for the warm ones themselves and the test's own."""
    warm = [pid for pid in below(os.getpid()) if "egg.tools.sandbox.zygote" in _command(pid) and _parent(pid)]
    return [_command(pid) for parent in warm for pid in below(parent)]


def _command(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def _parent(pid: int) -> bool:
    """Whether it is a child of this very process."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1]) == os.getpid()
    except OSError:
        return False
