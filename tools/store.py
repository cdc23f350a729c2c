"""Results that cost something, kept by content so that a resumed or repeated run pays for none of them twice."""

import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Any, TypeVar
from uuid import uuid4

from egg.state.errors import UserError
from egg.state.record import Record
from egg.tools import kept
from egg.tools.errors import CandidateError
from egg.tools.gpu_time import held_ms

R = TypeVar("R", bound=Record)


def default_cache() -> Path:
    """`$EGG_CACHE_DIR`, or `egg` in the user's cache folder."""
    if folder := os.environ.get("EGG_CACHE_DIR"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "egg"


def cache_folder(cache: Path, *parts: str) -> Path:
    """A folder of the cache, made if it is not there.

    Raises:
        UserError: it cannot be made.
    """
    folder = cache.joinpath(*parts)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"cannot write the cache folder {cache}: {error.strerror}"
        raise UserError(f"{why}; name another in EGG_CACHE_DIR") from None
    return folder


def digest(parts: dict[str, Any]) -> str:
    """SHA-256 of a JSON-able value, whatever the order of its keys."""
    return sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


class Store:
    """A content-addressed folder of records, and the run's journal of what was really done; none without a run.

    The journal (`journal.jsonl` in the run folder) has a line for each piece of work that ran, none for one that was
    found in the cache: it is how a run shows that nothing was measured twice.
    """

    def __init__(
        self, run_dir: str | Path | None = None, cache: Path | None = None, *, witnessing: bool = True
    ) -> None:
        self.run_dir = Path(run_dir) if run_dir else None
        self.cache = cache or default_cache()
        self.witnessing = witnessing
        """False below a result that is noted as a whole: a search needs no line for each of its points."""

    def get(
        self,
        kind: str,
        key: dict[str, Any],
        type_: type[R],
        produce: Callable[[], R],
        lasting: Callable[[R], bool] = lambda record: True,
    ) -> R:
        """The stored record for `key`, or what `produce` returns, stored whole or not at all.

        What is not `lasting` is not stored: another day, or a machine that is less busy, may say otherwise.
        """

        def found_or_made() -> R:
            if (found := self.find(kind, key, type_)) is not None:
                return found
            began = time()
            record = produce()
            if lasting(record):
                self.keep(kind, key, record, time() - began)
            else:
                self.note(kind, digest(key), time() - began)
            return record

        return self.witness(kind, key, type_, found_or_made, anew=True)

    def witness(
        self, kind: str, key: dict[str, Any], type_: type[R], produce: Callable[[], R], *, anew: bool = False
    ) -> R:
        """What `produce` returns, noted in the run's folder; in a replay, what was noted when it was recorded.

        A run that was told before goes on with that after a kill, unless `anew`.

        Raises:
            NotRecorded: in a replay, if it was not.
        """
        if self.run_dir is None or not self.witnessing or kind not in kept.WORDS:
            return produce()
        question = digest({name: part for name, part in key.items() if name not in kept.VERSIONS})
        if mark := kept.mark_of(self.run_dir):
            return kept.recall(self.run_dir, mark, kind, question, type_)
        if not anew and (told := kept.noted(self.run_dir, kind, question, type_)) is not None:
            return told
        version = [key[name] for name in kept.VERSIONS if name in key]
        held = held_ms()
        try:
            record = produce()
        except CandidateError as error:
            kept.note(self.run_dir, kind, question, version, error, held_ms() - held)
            raise
        kept.note(self.run_dir, kind, question, version, record, held_ms() - held)
        return record

    def find(self, kind: str, key: dict[str, Any], type_: type[R]) -> R | None:
        """The stored record for `key`, if there is one."""
        path = self._path(kind, digest(key))
        return type_.model_validate_json(path.read_text()) if path.exists() else None

    def keep(self, kind: str, key: dict[str, Any], record: Record, seconds: float = 0.0) -> None:
        """Store a finished record, whole or not at all, and note it in the journal."""
        name = digest(key)
        path = self._path(kind, name)
        cache_folder(self.cache, kind, name[:2])
        partial = path.with_name(f"{name}.{uuid4().hex}.part")
        partial.write_text(record.model_dump_json())
        partial.replace(path)
        self.note(kind, name, seconds)

    def note(self, kind: str, key: str, seconds: float = 0.0) -> None:
        """Append one finished piece of work, which took `seconds` until now, to the journal."""
        if self.run_dir is None:
            return
        self.run_dir.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"end": round(time(), 4), "seconds": round(seconds, 4), "kind": kind, "key": key})
        with (self.run_dir / "journal.jsonl").open("a") as journal:
            journal.write(line + "\n")

    def _path(self, kind: str, name: str) -> Path:
        return self.cache / kind / name[:2] / f"{name}.json"
