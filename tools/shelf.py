"""Compiled kernels of a candidate, handed from the process that checked it to the one that times it.

Only for the very same source: whatever a candidate writes there reaches nobody but itself.
"""

import os
import threading
from hashlib import sha256
from pathlib import Path

from egg.tools.folders import measuring_folder
from egg.tools.sandbox.removal import remove

CACHE = ".triton"
"""Where a child's kernels are, in its working folder."""
MOST = 8

_lock = threading.Lock()
_kept: list[Path] = []


def put(source: str, folder: Path) -> None:
    """Keep what was compiled in this working folder, until it is taken or too many others have come."""
    place = _place(source)
    with _lock:
        if not (folder / CACHE).is_dir() or (folder / CACHE).is_symlink() or place in _kept:
            return
        try:
            (folder / CACHE).rename(place)
        except OSError:  # on another disk, or its owner is not done with it: then it is compiled again
            return
        _kept.append(place)
        leaving = [_kept.pop(0) for _ in range(len(_kept) - MOST)]
    for old in leaving:
        remove(old)


def take(source: str, folder: Path) -> bool:
    """Move what was kept for this source to a working folder that has nothing yet; whether there was anything."""
    place = _place(source)
    with _lock:
        if place not in _kept:
            return False
        _kept.remove(place)
        place.rename(folder / CACHE)
        return True


def _place(source: str) -> Path:
    return Path(measuring_folder(), f"compiled-{os.getpid()}-{sha256(source.encode()).hexdigest()[:16]}")
