"""Temporary folders and their end, whatever a child has left in them.

That may be folders nested deeper than any path is long, or folders that nobody may read.
"""

import atexit
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from uuid import uuid4

PATIENCE_S, POLL_S = 0.5, 0.02
_ours: set[tuple[int, str]] = set()
"""By process, since a forked one ends before its parent."""


def temporary(parent: str | None, prefix: str = "egg-") -> str:
    """A new folder in `parent` (None: where temporary files go), deleted with this process if not before."""
    folder = tempfile.mkdtemp(prefix=prefix, dir=parent)
    _ours.add((os.getpid(), folder))
    return folder


@contextmanager
def scratch(parent: str | None, prefix: str = "egg-") -> Iterator[str]:
    """The same, deleted at the end of the block."""
    folder = temporary(parent, prefix)
    try:
        yield folder
    finally:
        remove(folder)


@atexit.register
def remove_all() -> None:
    """Delete all temporary folders of this process. Its children have been ended; those that are not gone yet may still
    be in the way for a moment."""
    until = monotonic() + PATIENCE_S
    for process, folder in list(_ours):
        if process == os.getpid():
            remove(folder)
            while os.path.exists(folder) and monotonic() < until:
                sleep(POLL_S)
                remove(folder)


def remove(folder: str | Path) -> None:
    """Delete a folder with all that is in it. Nobody may be at work there any more, but with the same; what cannot go
    stays.

    Every folder's own folders are moved up before it goes, so that neither recursion nor a path grows with the depth.
    """
    top = Path(folder)
    with suppress(OSError):
        while inner := _folders_left(top):
            for one in inner:
                for deeper in _folders_left(one):
                    with suppress(FileNotFoundError):  # another has moved it
                        deeper.chmod(0o700)
                        deeper.rename(top / uuid4().hex)
                with suppress(FileNotFoundError):
                    one.rmdir()
        top.rmdir()
    _ours.discard((os.getpid(), str(folder)))


def _folders_left(folder: Path) -> list[Path]:
    """Its folders, once everything else in it is deleted; none if it is gone."""
    try:
        folder.chmod(0o700)
        with os.scandir(folder) as entries:
            here = list(entries)
    except FileNotFoundError:
        return []
    for entry in here:
        if not entry.is_dir(follow_symlinks=False):
            with suppress(FileNotFoundError):
                os.unlink(entry.path)
    return [Path(entry.path) for entry in here if entry.is_dir(follow_symlinks=False)]
