"""One timing job on a GPU at a time, across processes."""

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from egg.state.device import Device
from egg.state.errors import MachineError
from egg.tools.store import default_cache

PATIENCE_S = 3600.0


@contextmanager
def exclusive(device: Device, seconds: float = PATIENCE_S) -> Iterator[None]:
    """Hold the GPU's lock, a file named by its UUID.

    Raises:
        MachineError: it was not to be had in time.
    """
    folder = default_cache() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{device.uuid or device.target}.lock"
    lock = FileLock(path)
    try:
        lock.acquire(timeout=seconds)
    except Timeout as busy:
        raise MachineError(f"another timing job holds {device.name} for more than {seconds:g} s ({path})") from busy
    try:
        yield
    finally:
        lock.release()
