"""A run on disk: its folder, its lock, its checkpoint, and the graph that continues it."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from egg.state.errors import UserError
from egg.tools.folders import CHECKPOINT, fresh_run_dir, runs_dir, server_checkpoint
from egg.tools.redaction import redacted

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

    from egg.state.run import RunInput

REQUEST = "run.json"
LOCK = ".lock"
SQLITE_SECONDS = 60
"""How long to wait for another writer of the checkpoint file."""


@dataclass(frozen=True)
class Run:
    """Where a run is kept. `folder` is None for a server's run that has not said yet where it writes."""

    id: str
    database: Path
    folder: Path | None


def create(request: "RunInput", stem: str) -> tuple[Run, "RunInput"]:
    """Make the folder of a new run, and note in it what was asked for.

    Raises:
        UserError: the folder cannot be written, or holds something already.
    """
    folder = _new_folder(request.run_dir, stem)
    request = request.model_copy(update={"run_dir": str(folder)})
    try:
        (folder / REQUEST).write_text(json.dumps(redacted(request.model_dump(mode="json")), indent=2) + "\n")
    except OSError as error:
        raise UserError(_unwritable(folder, error)) from None
    return Run(folder.name, folder / CHECKPOINT, folder), request


def find(name: str) -> Run:
    """The run with this id, or in this folder; else the one that the server began under this thread id.

    Raises:
        UserError: there is none.
    """
    for folder in (runs_dir() / name, Path(name).absolute()):
        if (folder / CHECKPOINT).is_file() or (folder / REQUEST).is_file():
            return Run(folder.name, folder / CHECKPOINT, folder)
    if _has_thread(server_checkpoint(), name):
        return Run(name, server_checkpoint(), None)
    raise UserError(f"no run {name} in {runs_dir()}: `egg runs` lists those there are")


def requested(run: Run) -> dict[str, Any]:
    """What the run was asked for, from its folder; empty for a server's run."""
    if run.folder is None or not (run.folder / REQUEST).is_file():
        return {}
    loaded = json.loads((run.folder / REQUEST).read_text())
    return loaded if isinstance(loaded, dict) else {}


def discard(run: Run) -> None:
    """Remove a new run that never got anywhere, and the folder of runs if that leaves it empty."""
    if run.folder is None:
        return
    shutil.rmtree(run.folder, ignore_errors=True)
    if run.folder.parent == runs_dir() and not any(run.folder.parent.iterdir()):
        run.folder.parent.rmdir()


@contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Hold the run; the lock goes with the process, however it ends.

    Raises:
        UserError: another process has it.
    """
    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise UserError(f"run {name} is being worked on by another process: wait for it, or stop it first") from None
    except OSError as error:
        raise UserError(_unwritable(folder, error)) from None
    try:
        yield
    finally:
        lock.release()


def is_locked(folder: Path) -> bool:
    """Whether a process is working on the run in this folder. Looks only, and leaves no file behind."""
    if not (folder / LOCK).exists():
        return False
    try:
        with FileLock(folder / LOCK, timeout=0):
            return False
    except Timeout:
        return True
    except OSError:  # a folder that cannot be written: nobody works there
        return False


@contextmanager
def opened(run: Run) -> Iterator[tuple["CompiledStateGraph[Any]", "RunnableConfig"]]:
    """The graph on the run's checkpoint, and the config that names the run.

    Raises:
        UserError: the checkpoint is damaged.
    """
    from egg.graph.app import build_graph
    from egg.graph.checkpointing import open_saver

    with ExitStack() as stack:
        try:
            saver = stack.enter_context(open_saver(run.database))
        except sqlite3.DatabaseError as error:
            raise UserError(f"the checkpoint {run.database} cannot be read ({error}): start the run again") from None
        yield build_graph(saver), {"configurable": {"thread_id": run.id}, "recursion_limit": 1000}


def _new_folder(wanted: str | None, stem: str) -> Path:
    if wanted:
        folder = Path(wanted).absolute()
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            onward = f", or go on with `egg resume {wanted}`" if (folder / REQUEST).is_file() else ""
            raise UserError(f"{wanted} is there already: give another --run-dir{onward}")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(_unwritable(folder, error)) from None
        return folder
    while True:
        folder = fresh_run_dir(stem)
        try:
            folder.mkdir(parents=True)
        except FileExistsError:  # another process was quicker
            continue
        except OSError as error:
            raise UserError(_unwritable(folder, error)) from None
        return folder


def _unwritable(folder: Path, error: OSError) -> str:
    return f"cannot write the run folder {folder} ({error.strerror}): choose another with --run-dir or EGG_RUNS_DIR"


def _has_thread(database: Path, thread: str) -> bool:
    if not database.is_file():
        return False
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=SQLITE_SECONDS)) as connection:
        try:
            found = connection.execute("SELECT 1 FROM checkpoints WHERE thread_id = ? LIMIT 1", (thread,)).fetchone()
        except sqlite3.DatabaseError:
            return False
    return found is not None
