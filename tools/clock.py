"""How long a run has been at work, over all the processes that worked on it."""

from threading import Lock
from time import monotonic

_lock = Lock()
_origin: dict[str, float] = {}
_told: dict[str, int] = {}


def elapsed(run_dir: str, persisted_ms: int) -> int:
    """Active milliseconds of the run: what earlier processes spent, and the time since this one first asked.

    `persisted_ms` is what the run's state holds. The time between two processes is not counted.
    """
    now = monotonic() * 1000
    with _lock:
        if run_dir in _told:
            return max(persisted_ms, _told[run_dir])
        origin = _origin[run_dir] = min(_origin.get(run_dir, now), now - persisted_ms)
    return max(persisted_ms, round(now - origin))


def waited(run_dir: str) -> None:
    """The run has waited for a person: go on from what its state holds, as a new process would."""
    with _lock:
        _origin.pop(run_dir, None)


def stand_at(run_dir: str, told_ms: int) -> None:
    """The run is a replay: its clock shows what the recorded run's did, and never goes back."""
    with _lock:
        _told[run_dir] = max(_told.get(run_dir, 0), told_ms)
