"""Where runs and scratch files live. One place, so that the command, Python and the server find each other's runs."""

import os
import shutil
from datetime import datetime
from functools import cache
from itertools import count
from pathlib import Path

from egg.tools.sandbox.removal import temporary

CHECKPOINT = "checkpoint.sqlite"
SERVER_CHECKPOINT = "studio.sqlite"
MEMORY = "/dev/shm"
MEMORY_ROOM = 32 << 30


def runs_dir() -> Path:
    """`$EGG_RUNS_DIR`, or `runs` in the current folder."""
    return Path(os.environ.get("EGG_RUNS_DIR") or "runs").absolute()


def fresh_run_dir(stem: str) -> Path:
    """The path of a run folder that is not there yet: `stem` and the time."""
    name = f"{stem}-{datetime.now():%m%d-%H%M%S}"
    numbered = (runs_dir() / (f"{name}-{number}" if number else name) for number in count())
    return next(folder for folder in numbered if not folder.exists())


def scratch_parent() -> str | None:
    """A folder in memory for the files that children exchange (gigabytes at full size), if it has room; else None."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= MEMORY_ROOM:
        return MEMORY
    return None


@cache
def _measuring_folder(process: int) -> str:
    return temporary(scratch_parent(), "egg-timing-")


def measuring_folder() -> str:
    """Of this process, for what timed processes leave: known before them, so that one may be allowed to read it."""
    return _measuring_folder(os.getpid())


def server_checkpoint() -> Path:
    """The SQLite file in which `langgraph dev` keeps its runs."""
    return runs_dir() / SERVER_CHECKPOINT
