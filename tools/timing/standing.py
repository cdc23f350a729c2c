"""Timers of references, kept between candidates of one problem.

Such a process never holds a candidate, so the next one's time beside it is as fair as the first one's, and saves
setting it up. A confirmation uses none of these.
"""

import os
import threading
from dataclasses import dataclass

from egg.tools.sandbox.client import Worker

MOST, ALL_BYTES = 8, 16 << 30
"""At a time, and the GPU's memory that they may hold together."""
MOST_BYTES = 4 << 30
"""That one may hold."""
PING_S = 10.0

Key = tuple[object, ...]


@dataclass(frozen=True)
class Standing:
    """A timer that is set up."""

    worker: Worker
    seed: int
    """Of its weights and inputs: whoever is timed beside it has the same."""


_lock = threading.Lock()
_kept: list[tuple[Key, Standing]] = []


def take(key: Key) -> Standing | None:
    """The one kept for this key, for its taker alone; None if there is none that still answers."""
    key = (os.getpid(), *key)
    while True:
        with _lock:
            found = next((entry for entry in _kept if entry[0] == key), None)
            if found is None:
                return None
            _kept.remove(found)
        if found[1].worker.ask({"do": "ping"}, PING_S).ok:
            return found[1]
        found[1].worker.close()


def give(key: Key, standing: Standing) -> None:
    """Keep it for the next taker, or end it if it holds too much; the oldest goes when there are too many."""
    if _held(standing) > MOST_BYTES:
        standing.worker.close()
        return
    leaving = []
    with _lock:
        _kept.append(((os.getpid(), *key), standing))
        while len(_kept) > MOST or sum(_held(one) for _, one in _kept) > ALL_BYTES:
            leaving.append(_kept.pop(0))
    for _, old in leaving:
        old.worker.close()


def _held(standing: Standing) -> int:
    return int(standing.worker.opened.value.get("held_bytes", MOST_BYTES + 1))


def end() -> None:
    """End all that are kept."""
    with _lock:
        leaving = [_kept.pop() for _ in range(len(_kept))]
    for _, old in leaving:
        old.worker.close()
