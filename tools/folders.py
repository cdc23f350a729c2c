"""Where runs live. One place, so that the command, Python callers and the server find each other's runs."""

import os
from pathlib import Path

CHECKPOINT = "checkpoint.sqlite"
SERVER_CHECKPOINT = "studio.sqlite"


def runs_dir() -> Path:
    """`$EGG_RUNS_DIR`, or `runs` in the current folder."""
    return Path(os.environ.get("EGG_RUNS_DIR") or "runs").absolute()


def server_checkpoint() -> Path:
    """The SQLite file in which `langgraph dev` keeps its runs."""
    return runs_dir() / SERVER_CHECKPOINT
