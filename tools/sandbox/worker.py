"""One child and the conversation with it."""

import json
import os
import select
import signal
import socket
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, Self, cast

from egg.state.errors import MachineError
from egg.tools.sandbox.channel import LOST_CODE, Channel, Closed, Nonsense
from egg.tools.sandbox.parent import Ended, Lost, Zygote
from egg.tools.sandbox.records import TOLD, Bounds, Reply, State, printable
from egg.tools.sandbox.removal import remove

PATIENCE = 4.0
"""How many times its limit a child may take, if the machine is so busy that it gets less processor time than that."""
LOCK_DOWN_S = 60.0
LEAST_OWED = 0.05
GONE = "its process closed the channel through which it answers, or went on without it, and was ended"
"""Seconds of processor time below which it has had its share."""


class Worker:
    """A child that answers until it fails, is closed, or takes too long; every later request gets the same failure."""

    def __init__(
        self, zygote: Zygote, task: str, payload: Mapping[str, Any], bounds: Bounds, layers: Sequence[str]
    ) -> None:
        """Raises `MachineError` if there is no such child, or if it is not as shut in as these layers promise."""
        self.zygote = zygote
        self.lost = False
        self._printed = 0
        self._bounds = bounds
        self._temporary = None if bounds.folder else tempfile.mkdtemp(prefix="egg-", dir=zygote.home)
        self._tail = bytearray()
        self._failed: Reply | None = None
        self._pid: int | None = None
        ours, theirs = socket.socketpair()
        self._channel = Channel(ours)
        self._output, output = os.pipe()
        payload_fd = _in_memory(payload)
        try:
            inside = replace(bounds, folder=bounds.folder or self._temporary)
            self._pid = zygote.fork(task, inside, layers, [payload_fd, theirs.fileno(), output])
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()
            os.close(output)
            os.close(payload_fd)
        try:
            self.opened = self._confined() or self._wait(bounds.seconds)
        except BaseException:
            self.close()
            raise

    def ask(self, message: dict[str, Any], seconds: float) -> Reply:
        """Send one message and wait for its answer."""
        if self._failed:
            return self._failed
        try:
            self._channel.send(message)
        except Closed:
            return self._fail("crashed", "")
        return self._wait(seconds)

    @property
    def processor_s(self) -> float:
        """Seconds of processor time that it has had; 0 once it has ended."""
        return processor_seconds(self._pid)[0]

    def hang_up(self) -> None:
        """Nothing more will be asked: it begins to end, so that closing many does not wait for each in turn."""
        with suppress(OSError):
            self._channel.end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Kill the child and its group. May be called twice."""
        try:
            self._reap()
        finally:
            self._channel.end.close()
            if self._output >= 0:
                os.close(self._output)
                self._output = -1
            if self._temporary:
                remove(self._temporary)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _confined(self) -> Reply | None:
        """Wait until it has given up its rights; nothing unread has been loaded before it says so."""
        try:
            said = self._channel.receive(LOCK_DOWN_S)
        except Closed:
            return self._fail("crashed", "")
        except TimeoutError:
            said = {"error": f"not done within {LOCK_DOWN_S:g} s"}
        if said.get("state") != "confined":
            raise MachineError(f"isolation is not what it was: {said.get('error')}")
        return None

    def _wait(self, seconds: float) -> Reply:
        began = monotonic()
        deadline, last = began + seconds, began + seconds * PATIENCE
        before, _ = processor_seconds(self._pid)
        sources: list[Any] = [self._channel.end, self._output]
        try:
            while (answer := self._channel.pop()) is None:
                left = deadline - monotonic()
                ready = select.select(sources, [], [], left)[0] if left > 0 else []
                if not ready and deadline <= monotonic():
                    used, wants = processor_seconds(self._pid)
                    owed = seconds - (used - before)
                    if not wants or owed < LEAST_OWED or deadline >= last:
                        return self._fail("timeout", _too_long(seconds, used - before, monotonic() - began))
                    deadline = min(last, monotonic() + owed)
                if self._output in ready and not self._drain():
                    sources.remove(self._output)
                if self._flooded():
                    return self._fail_flooded()
                if self._channel.end in ready:
                    self._channel.feed()
        except Nonsense as said:
            return self._fail("forged", str(said))
        except Closed:
            return self._fail("crashed", "")
        return self._take(answer)

    def _take(self, answer: dict[str, Any]) -> Reply:
        state, value, error = answer.get("state"), answer.get("value"), answer.get("error", "")
        if not isinstance(state, str) or state not in TOLD or not isinstance(value, dict):
            return self._fail("forged", "an answer that is none")
        while not self._flooded() and select.select([self._output], [], [], 0)[0] and self._drain():
            pass
        if self._flooded():
            return self._fail_flooded()
        reply = Reply(cast(State, state), value, printable(str(error)), self._text())
        if state != "done":
            self._failed = reply
        return reply

    def _fail(self, state: State, error: str) -> Reply:
        ended = self._reap(grace=0.2 if state == "crashed" else 0.0)
        while not self._flooded() and select.select([self._output], [], [], 0)[0] and self._drain():
            pass
        if state == "crashed" and ended.breach:
            state, error = cast(State, ended.breach[0]), ended.breach[1]
        elif state == "crashed" and ended.code is not None and not error:
            died = ended.code < 0
            error = f"died of {_signal(-ended.code)}" if died else f"ended with code {ended.code} unasked"
            error = GONE if ended.code == LOST_CODE else error
            if ended.code == -signal.SIGKILL:  # not by us: the kernel kills what takes the machine's last memory
                state = "out_of_memory"
        self._failed = Reply(state, {}, error or GONE, self._text())
        return self._failed

    def _flooded(self) -> bool:
        return self._printed > self._bounds.flood_bytes

    def _fail_flooded(self) -> Reply:
        return self._fail("output_limit", f"more than {self._bounds.flood_bytes >> 20} MiB")

    def _reap(self, grace: float = 0.0) -> Ended:
        if self._pid is None:
            return Ended(None, None)
        pid, self._pid = self._pid, None
        try:
            return self.zygote.reap(pid, grace)
        except Lost:
            self.lost = True
            return Ended(None, None)

    def _drain(self) -> bool:
        """Take in some output, keeping its tail; False when there will be no more."""
        data = os.read(self._output, 1 << 16)
        self._printed += len(data)
        self._tail += data
        del self._tail[: -self._bounds.output_bytes or None]
        return bool(data)

    def _text(self) -> str:
        return self._tail.decode(errors="replace")


def _too_long(seconds: float, used: float, wall: float) -> str:
    """A limit is one of processor time where the machine is busy, so both are told."""
    said = f"no answer within {seconds:.3g} s"
    if wall < 1.1 * seconds:
        return said
    return f"{said} of its own: {used:.3g} s of processor time in {wall:.3g} s, on a machine that is busy"


def _signal(number: int) -> str:
    """Its name; those for real time have none."""
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"


def processor_seconds(pid: int | None) -> tuple[float, bool]:
    """What a process has had, all its threads together, and whether it wants more: one that sleeps does not."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0, False
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), fields[0] == "R"


def _in_memory(payload: Mapping[str, Any]) -> int:
    fd = os.memfd_create("payload")
    data = memoryview(json.dumps(dict(payload)).encode())
    while data:
        data = data[os.write(fd, data) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
