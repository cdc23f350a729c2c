"""Files of JSON lines that survive a kill: each line is on the disk before whoever wrote it goes on."""

import json
import os
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from pydantic import ValidationError

from egg.state.record import Record

R = TypeVar("R", bound=Record)

_writing = Lock()


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
        seen = path.stat()
    except FileNotFoundError:
        return ()
    return _records(path, (seen.st_ino, seen.st_size, seen.st_mtime_ns), type_)  # type: ignore[return-value]


@lru_cache(maxsize=16)
def _records(path: Path, version: tuple[int, int, int], type_: type[Record]) -> tuple[Record, ...]:
    lines = path.read_bytes().split(b"\n")[:-1]
    return tuple(record for line in lines if (record := _record(line, type_)) is not None)


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
