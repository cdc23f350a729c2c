"""Child tasks: what a profiler does to reach the program that it profiles, and what it must not reach."""

import ctypes
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

SUBREAPER = 36


def converse(payload: dict[str, Any]) -> dict[str, Any]:
    """What of all that works: names of those that did, and why the others did not."""
    tries: dict[str, Callable[[], object]] = {
        "tcp": lambda: _talk(socket.AF_INET, ("127.0.0.1", 0)),
        "uds": lambda: _talk(socket.AF_UNIX, str(Path("here.sock").absolute())),
        "abstract": lambda: _talk(socket.AF_UNIX, "\0egg-profiled"),
        "fifo": _pass_through_a_pipe,
        "signal": _end_a_program,
        "subreaper": _adopt,
        "mode": lambda: os.chmod(Path("here").absolute(), 0o600) if Path("here").touch() is None else None,
        "temporary": lambda: tempfile.mkdtemp(dir="/tmp"),
        "program": lambda: subprocess.run([payload["program"]], check=True),
        "device": lambda: os.mknod("device", 0o600 | stat.S_IFCHR, os.makedev(1, 3)),
        "mode of others": lambda: _open_up(payload["secret"]),
        "docker": lambda: socket.socket(socket.AF_UNIX).connect(payload["unix"]),
        "relative": lambda: _connect_from(Path(payload["unix"])),
        "outside": lambda: socket.create_connection(("127.0.0.1", payload["port"]), timeout=1),
        "internet": lambda: socket.create_connection(("192.0.2.1", 80), timeout=1),
        "secret": lambda: Path(payload["secret"]).read_text(),
    }
    found: dict[str, str] = {}
    for name, act in tries.items():
        try:
            act()
            found[name] = ""
        except (OSError, subprocess.CalledProcessError) as error:
            found[name] = f"{type(error).__name__}: {error}"
    return {"works": [name for name, why in found.items() if not why], "why": found}


def _talk(family: int, address: Any) -> None:
    with socket.socket(family) as listener:
        listener.bind(address)
        listener.listen()
        at = listener.getsockname()

        def answer() -> None:
            with suppress(OSError):
                end, _ = listener.accept()
                with end:
                    end.sendall(end.recv(4))

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        with socket.socket(family) as end:
            end.settimeout(2)
            end.connect(at)
            end.sendall(b"ping")
            if end.recv(4) != b"ping":
                raise OSError("no answer")


def _pass_through_a_pipe() -> None:
    os.mkfifo("pipe")
    program = "import pathlib; pathlib.Path('pipe').write_text('x')"
    with subprocess.Popen([sys.executable, "-I", "-c", program]) as writer:
        if Path("pipe").read_text() != "x":
            raise OSError("nothing came through")
        writer.wait(10)


def _end_a_program() -> None:
    with subprocess.Popen([sys.executable, "-I", "-c", "input()"], stdin=subprocess.PIPE) as program:
        os.kill(program.pid, 15)  # whoever may not do that is left by it when its input ends
        program.wait(10)


def _adopt() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def _open_up(path: str) -> None:
    before = os.stat(path).st_mode
    os.chmod(path, 0o777)
    if os.stat(path).st_mode == before:
        raise OSError("only pretended")


def _connect_from(path: Path) -> None:
    os.chdir(path.parent)
    socket.socket(socket.AF_UNIX).connect(path.name)
