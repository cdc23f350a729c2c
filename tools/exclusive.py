"""Who may use a GPU: any number of checks side by side, or one timing job alone. Across processes and threads.

A timing job waits until the checks under way have ended. So that one such wait serves many, no check begins while any
timing job waits: those that have gathered take their turns one after the other, and then the checks go on.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic, sleep
from typing import Literal

from filelock import ReadWriteLock, Timeout

from egg.state.device import Device
from egg.state.errors import MachineError
from egg.tools.gpu_time import holding
from egg.tools.store import cache_folder, default_cache

PATIENCE_S = 3600.0
KNOCK_S = 0.05


@contextmanager
def exclusive(device: Device, seconds: float = PATIENCE_S) -> Iterator[None]:
    """Nothing else of ours runs on the GPU meanwhile.

    Raises:
        MachineError: it was not to be had in time.
    """
    with _held(device, "door", "read", seconds), _held(device, "gpu", "write", seconds), holding():
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
    with ExitStack() as inside:
        with _through_the_door(device, seconds):
            inside.enter_context(_held(device, "gpu", "read", seconds))
        inside.enter_context(holding())
        yield


def _through_the_door(device: Device, seconds: float) -> ExitStack:
    """Held once no timing job waits. Knocks: to wait in the lock itself would keep further timing jobs from joining."""
    until = monotonic() + seconds
    while True:
        passing = ExitStack()
        try:
            passing.enter_context(_held(device, "door", "write", 0))
            return passing
        except MachineError:
            if monotonic() >= until:
                raise
        sleep(KNOCK_S)


@contextmanager
def _held(
    device: Device, what: Literal["door", "gpu"], mode: Literal["read", "write"], seconds: float
) -> Iterator[None]:
    path = cache_folder(default_cache(), "locks") / f"{device.uuid or device.target}.{what}"
    lock = ReadWriteLock(path, is_singleton=False)  # threads of one process exclude each other too
    try:
        (lock.acquire_write if mode == "write" else lock.acquire_read)(timeout=seconds)
    except Timeout as busy:
        lock.close()
        raise MachineError(f"another job holds {device.name} for more than {seconds:g} s ({path})") from busy
    try:
        yield
    finally:
        lock.release()
        lock.close()
