"""Who may use a GPU: any number of checks side by side, or one timing job alone. Across processes and threads."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from filelock import ReadWriteLock, Timeout

from egg.state.device import Device
from egg.state.errors import MachineError
from egg.tools.store import default_cache

PATIENCE_S = 3600.0


@contextmanager
def exclusive(device: Device, seconds: float = PATIENCE_S) -> Iterator[None]:
    """Nothing else of ours runs on the GPU meanwhile.

    Raises:
        MachineError: it was not to be had in time.
    """
    with _held(device, "write", seconds):
        yield


@contextmanager
def shared(device: Device, seconds: float = PATIENCE_S) -> Iterator[None]:
    """Nobody times anything meanwhile. Free where no GPU is present.

    Raises:
        MachineError: it was not to be had in time.
    """
    if not device.present:
        yield
        return
    with _held(device, "read", seconds):
        yield


@contextmanager
def _held(device: Device, mode: Literal["read", "write"], seconds: float) -> Iterator[None]:
    folder = default_cache() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{device.uuid or device.target}.lock"
    lock = ReadWriteLock(path, is_singleton=False)  # threads of one process exclude each other too
    try:
        (lock.acquire_write if mode == "write" else lock.acquire_read)(timeout=seconds)
    except Timeout as busy:
        raise MachineError(f"another job holds {device.name} for more than {seconds:g} s ({path})") from busy
    try:
        yield
    finally:
        lock.release()
        lock.close()
