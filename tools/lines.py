"""Files of JSON lines that survive a kill: each line is on the disk before whoever wrote it goes on."""

import json
import os
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from egg.state.record import Record

R = TypeVar("R", bound=Record)


class _Seen(NamedTuple):
    """What has been read of a file."""

    bytes: int
    records: tuple[Record, ...]


_writing, _reading = Lock(), Lock()
_seen: dict[tuple[str, int, type[Record]], _Seen] = {}


def append(path: Path, value: dict[str, Any]) -> None:
    """Add a line and wait until the disk has it. What a kill left of a line before stays a line of its own."""
    line = json.dumps(value, ensure_ascii=False).encode(errors="replace") + b"\n"
    with _writing:
        new = not path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            if file.tell() and _last_byte(file.fileno(), file.tell()) != b"\n":
                line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        if new:
            _sync_folder(path.parent)


def read(path: Path, type_: type[R]) -> tuple[R, ...]:
    """The records in a file, oldest first; none if there is no file. Half a line, of a process killed, is none."""
    try:
        inode = path.stat().st_ino
    except FileNotFoundError:
        return ()
    with _reading:
        before = _seen.get((str(path), inode, type_), _Seen(0, ()))
        with path.open("rb") as file:
            file.seek(before.bytes)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        records = [record for line in whole.splitlines() if (record := _record(line, type_)) is not None]
        now = _Seen(before.bytes + len(whole), (*before.records, *records))
        _seen[str(path), inode, type_] = now
    return now.records  # type: ignore[return-value]  # the key has their type


def _record(line: bytes, type_: type[R]) -> R | None:
    try:
        return type_.model_validate_json(line)
    except ValidationError:
        return None


def _last_byte(descriptor: int, size: int) -> bytes:
    return os.pread(descriptor, 1, size - 1)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
