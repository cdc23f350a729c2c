"""Child task: try to break what the sandbox promises, harmlessly. Only what fails here is called verified."""

import fcntl
import mmap
import os
import resource
import socket
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

from egg.tools.sandbox.linux import call
from egg.tools.sandbox.syscalls import number

PTRACE_SEIZE = 0x4206
BEYOND = 64 << 20


def attack(payload: dict[str, Any]) -> Generator[dict[str, Any], dict[str, Any], None]:
    """For each promise the attempts that got through, by name; none is what should be. Asked again, it prints.

    Args:
        payload: `port` and `unix` (address) of listeners outside; `secret`, a file, and `outside`, a folder, of the
            owner's; `processes` that are not ours by name, and a `victim` that may come to harm; `lock`, a file in the
            working folder for a process that stays behind; `memory_bytes`, `disk_bytes` and `flood_bytes`, the limits.
    """
    outside = Path(payload["outside"])
    attempts: dict[str, dict[str, Callable[[], object]]] = {
        "network": {
            "tcp": lambda: socket.create_connection(("127.0.0.1", payload["port"]), timeout=1),
            "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)),
            "unix": lambda: socket.socket(socket.AF_UNIX).connect(payload["unix"]),
            "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
        },
        "read": {
            "file": lambda: Path(payload["secret"]).read_bytes(),
            "folder": lambda: os.listdir(outside),
            "link": lambda: _through_a_link(payload["secret"]),
        },
        "write": {
            "new file": lambda: (outside / "new").write_text("x"),
            "old file": lambda: Path(payload["secret"]).write_text("x"),
            "delete": lambda: os.unlink(outside / "deleted"),
            "rename": lambda: os.rename(outside / "renamed", outside / "to"),
            "mode": lambda: os.chmod(payload["secret"], 0o666),
            "times": lambda: os.utime(payload["secret"]),
        },
        "others": {
            f"{name} of the {who}": lambda pid=pid, act=act: act(pid)
            for who, pid in payload["processes"].items()
            if pid != os.getpid()
            for name, act in OTHERS.items()
        }
        | {"trace": lambda: call("syscall", number("ptrace"), PTRACE_SEIZE, payload["victim"], None, None)},
        "memory": {"map": lambda: mmap.mmap(-1, payload["memory_bytes"] + BEYOND, flags=mmap.MAP_PRIVATE)},
        "disk": {"file": lambda: _fill(payload["disk_bytes"] + 1)},
    }
    through = {what: [name for name, act in tried.items() if _works(act)] for what, tried in attempts.items()}
    stays = _works(lambda: _stay_behind(payload["lock"]))
    yield {"through": through, "stays": stays, "environment": dict(os.environ)}
    for _ in range(2):
        os.write(1, bytes(payload["flood_bytes"]))
    yield {}


def nothing(payload: dict[str, Any]) -> dict[str, Any]:
    """For measuring what a child costs."""
    return {}


def _works(act: Callable[[], object]) -> bool:
    try:
        act()
    except (OSError, MemoryError):
        return False
    return True


def _through_a_link(secret: str) -> bytes:
    with suppress(FileExistsError):
        os.symlink(secret, "link")
    return Path("link").read_bytes()


def _environment_of(pid: int) -> bytes:
    found = Path(f"/proc/{pid}/environ").read_bytes()
    if not found:
        raise ProcessLookupError
    return found


def _copy_memory(pid: int) -> None:
    with open(f"/proc/{pid}/mem", "rb"):
        pass


OTHERS: dict[str, Callable[[int], object]] = {
    "signal": lambda pid: os.kill(pid, 0),
    "limits": lambda pid: resource.prlimit(pid, resource.RLIMIT_CORE),
    "environment": _environment_of,
    "memory": _copy_memory,
}


def _fill(size: int) -> None:
    with open("filler", "wb") as file:
        file.truncate(size)


def _stay_behind(lock: str) -> None:
    """Start a process with its own session and no parent, which holds the lock for as long as it lives."""
    held, told = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            file = open(lock, "w")  # noqa: SIM115  # open until the process ends
            fcntl.flock(file, fcntl.LOCK_EX)
            os.write(told, b"x")
            time.sleep(60)
        os._exit(0)
    os.read(held, 1)
