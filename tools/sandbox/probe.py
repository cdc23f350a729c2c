"""Find out by attack which promises the sandbox keeps here. Everything attacked is planted for the purpose."""

import fcntl
import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from egg.state.errors import MachineError
from egg.tools.sandbox.environment import closed_environment
from egg.tools.sandbox.parent import Zygote
from egg.tools.sandbox.records import Bounds
from egg.tools.sandbox.worker import Worker

TASK = "egg.tools.sandbox.canary:attack"
BOUNDS = Bounds(seconds=30, memory_bytes=512 << 20, disk_bytes=1 << 20, flood_bytes=256 << 10)


class Broken(NamedTuple):
    """What got through, by promise; an empty list means that it holds."""

    network: list[str]
    read: list[str]
    write: list[str]
    others: list[str]
    processes: list[str]
    memory: list[str]
    disk: list[str]
    output: list[str]
    environment: list[str]


def attacked(zygote: Zygote, layers: Sequence[str], *, interpret: bool) -> Broken:
    """What a hostile child in these layers achieves.

    Raises:
        MachineError: it could not be started, or did not answer.
    """
    with ExitStack() as stack:
        outside = Path(stack.enter_context(TemporaryDirectory(prefix="egg-outside-")))
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="egg-canary-")))
        for name in ("secret", "deleted", "renamed"):
            (outside / name).write_text("x")
        tcp, unix = stack.enter_context(socket.socket()), stack.enter_context(socket.socket(socket.AF_UNIX))
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        with suppress(OSError):  # where the name is too long for a socket, this attempt shows nothing
            unix.bind(str(outside / "unix"))
            unix.listen()
        payload = {
            "port": tcp.getsockname()[1],
            "unix": str(outside / "unix"),
            "secret": str(outside / "secret"),
            "outside": str(outside),
            "processes": {"owner": os.getpid(), "warm parent": zygote.pid},
            "victim": stack.enter_context(_victim()),
            "lock": str(folder / "lock"),
            "memory_bytes": BOUNDS.memory_bytes,
            "disk_bytes": BOUNDS.most_disk_bytes,
            "flood_bytes": BOUNDS.flood_bytes,
        }
        bounds = Bounds(**{**vars(BOUNDS), "folder": str(folder)})
        with Worker(zygote, TASK, payload, bounds, layers) as worker:
            reply = worker.opened
            flood = worker.ask({}, BOUNDS.seconds)
        if not reply.ok:
            raise MachineError(
                f"the sandbox cannot be tried out: {reply.state}: {reply.error}\n{reply.output}".rstrip()
            )
        output = [] if flood.state == "output_limit" else [f"a flood ended in {flood.state}"]
        return _broken(reply.value, output, folder / "lock", interpret)


@contextmanager
def _victim() -> Iterator[int]:
    """A process that waits to be attacked: whoever is traced by a child that is then killed is left standing."""
    with subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def _broken(value: dict[str, Any], output: list[str], lock: Path, interpret: bool) -> Broken:
    allowed = {*closed_environment("", interpret=interpret), "LC_CTYPE", "HOME", "TMPDIR"}
    allowed |= {"TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"}
    environment = sorted(set(value["environment"]) - allowed)
    processes = ["a process stays behind"] if value["stays"] and _held(lock) else []
    return Broken(**value["through"], processes=processes, output=output, environment=environment)


def _held(lock: Path) -> bool:
    with open(lock, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
