"""Delete what a child has left: folders nested deeper than any path is long, folders that nobody may read."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4


def remove(folder: str | Path) -> None:
    """Delete a folder with all that is in it. Nobody may be at work there any more; what cannot go stays.

    Every folder's own folders are moved up before it goes, so that neither recursion nor a path grows with the depth.
    """
    top = Path(folder)
    with suppress(OSError):
        while inner := _folders_left(top):
            for one in inner:
                for deeper in _folders_left(one):
                    deeper.chmod(0o700)
                    deeper.rename(top / uuid4().hex)
                one.rmdir()
        top.rmdir()


@contextmanager
def scratch(parent: str | None, prefix: str = "egg-") -> Iterator[str]:
    """A new folder in `parent` (None: where temporary files go), deleted at the end."""
    folder = tempfile.mkdtemp(prefix=prefix, dir=parent)
    try:
        yield folder
    finally:
        remove(folder)


def _folders_left(folder: Path) -> list[Path]:
    """Its folders, once everything else in it is deleted."""
    folder.chmod(0o700)
    with os.scandir(folder) as entries:
        here = list(entries)
    for entry in here:
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.path)
    return [Path(entry.path) for entry in here if entry.is_dir(follow_symlinks=False)]
