"""Our side of a warm process."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, NamedTuple

from egg.state.errors import MachineError
from egg.tools.sandbox.environment import closed_environment
from egg.tools.sandbox.records import Bounds
from egg.tools.sandbox.removal import remove, temporary


class Lost(Exception):
    """The warm process is gone."""


class Ended(NamedTuple):
    """How a child came to its end."""

    code: int | None
    """Of its exit, negative for a signal; None if it had to be killed."""
    breach: tuple[str, str] | None
    """The state and what was too much, if it was killed for passing a limit."""


class Zygote:
    """Starts the warm process; does not wait for it. Requests may come from any thread."""

    def __init__(self, *, interpret: bool) -> None:
        self._lock = threading.Lock()
        self.home = temporary(None)
        """Of the warm process, and parent of its children's temporary folders: gone with it, whoever ends it."""
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as this object
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        fd = theirs.fileno()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "egg.tools.sandbox.zygote", str(fd)],
                env=closed_environment(self.home, interpret=interpret),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                pass_fds=(fd,),
                start_new_session=True,  # the terminal's Ctrl-C is for us to handle
            )

    @property
    def pid(self) -> int:
        """Of the warm process."""
        return self._process.pid

    def layers(self, allowed: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
        """Which of these layers work here, and why the others do not.

        Raises:
            Lost: the warm process is gone.
        """
        answer = self._ask({"do": "layers", "allowed": list(allowed)}, [])
        return tuple(answer["layers"]), answer["missing"]

    def fork(self, task: str, bounds: Bounds, layers: Sequence[str], fds: list[int]) -> int:
        """Process id of a new child; its descriptors are payload, channel and output.

        Raises:
            Lost: the warm process is gone.
            MachineError: there is no such task, a layer does not work any more, or PyTorch or Triton does not load.
        """
        request = {"do": "fork", "task": task, "bounds": asdict(bounds), "layers": list(layers)}
        answer = self._ask(request, fds)
        if "error" in answer:
            raise MachineError(answer["error"])
        return int(answer["pid"])

    def reap(self, pid: int, grace: float = 0.0) -> Ended:
        """Kill what is left of a child and all it started, after waiting `grace` seconds for it to end by itself.

        Raises:
            Lost: the warm process is gone, and the child with it.
            MachineError: the killed process does not go away.
        """
        answer = self._ask({"do": "reap", "pid": pid, "grace": grace}, [])
        if answer.get("undead"):
            raise MachineError(answer["undead"])
        return Ended(answer["code"], tuple(answer["breach"]) if answer["breach"] else None)

    def hang_up(self) -> None:
        """Let the warm process end, with all its children; whoever waits for an answer gets none."""
        with suppress(OSError):  # it hung up first
            self._control.shutdown(socket.SHUT_RDWR)  # closing alone does nothing while a thread waits for an answer

    def close(self) -> None:
        """End the warm process and all its children."""
        self.hang_up()
        self._control.close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stderr.close()
        remove(self.home)

    def complaint(self) -> str:
        """Last lines that the warm process wrote about itself."""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - 2000))
        return self._stderr.read().decode(errors="replace").strip()

    def _ask(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        with self._lock:
            try:
                socket.send_fds(self._control, [json.dumps(request).encode()], fds)
                data = self._control.recv(1 << 16)
            except OSError as error:
                raise Lost(str(error)) from error
        if not data:
            raise Lost
        answer: dict[str, Any] = json.loads(data)
        return answer
