"""JSON values, one a line, over a socket that only a child and its owner hold."""

import json
import os
import select
import socket
from time import monotonic
from typing import Any

MOST_BYTES = 64 << 20
LOST_CODE = 74
"""With which a child ends that cannot write to its channel (EX_IOERR)."""


class Closed(Exception):
    """The other side is gone."""


class Nonsense(Closed):
    """What came is nothing that the other side of ours sends."""


class Channel:
    """One end. Not for two threads at once."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self._buffer = bytearray()
        self._searched = 0

    def send(self, value: dict[str, Any]) -> None:
        """Write one value. As to a file: a confined child may not send.

        Raises:
            Closed: the reader is gone.
        """
        data = memoryview(json.dumps(value).encode() + b"\n")
        try:
            while data:
                data = data[os.write(self.end.fileno(), data) :]
        except OSError as error:
            raise Closed(str(error)) from error

    def feed(self) -> None:
        """Take in what has arrived; blocks if nothing has.

        Raises:
            Closed: end of stream.
            Nonsense: a line longer than anyone may send.
        """
        try:
            data = self.end.recv(1 << 16)
        except OSError as error:
            raise Closed(str(error)) from error
        if not data:
            raise Closed("end of stream")
        if len(self._buffer) + len(data) > MOST_BYTES:
            raise Nonsense("too long a message")
        self._buffer += data

    def pop(self) -> dict[str, Any] | None:
        """The next whole value that has arrived, or None.

        Raises:
            Nonsense: a line that is not a JSON object.
        """
        end = self._buffer.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._buffer)
            return None
        self._searched = 0
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            value = json.loads(line)
            if b"\\u" in line:  # perhaps half a character, which no file can hold
                value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            raise Nonsense("not JSON") from error
        if not isinstance(value, dict):
            raise Nonsense("not an object")
        return value

    def receive(self, seconds: float | None = None) -> dict[str, Any]:
        """Wait for one value.

        Raises:
            Closed: the sender is gone.
            TimeoutError: nothing whole came in time.
        """
        deadline = None if seconds is None else monotonic() + seconds
        while (value := self.pop()) is None:
            left = None if deadline is None else max(0.0, deadline - monotonic())
            if not select.select([self.end], [], [], left)[0]:
                raise TimeoutError
            self.feed()
        return value
