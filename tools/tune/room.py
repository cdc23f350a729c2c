"""How many kernels a search may set up on a GPU at once, beside the other searches of this process."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from egg.state.device import Device

SHARE = 0.5
"""Of the GPU's memory, for all searches together; the rest is for checks and confirmations."""
LEAST = 4
"""The kernel as it is, and enough others for a last comparison."""

_changed = threading.Condition()
_promised: Counter[str] = Counter()


@contextmanager
def room(device: Device, each_bytes: int, most: int) -> Iterator[int]:
    """The number of processes, at most `most`, that take `each_bytes` of the GPU each; set aside meanwhile.

    Waits until the others leave that much: with less, each turn would wait for the GPU all the same, again and again.
    """
    gpu, all_bytes = device.uuid or device.target, int(SHARE * device.memory_bytes)
    count = min(most, max(LEAST, all_bytes // max(1, each_bytes)))
    with _changed:
        _changed.wait_for(lambda: not _promised[gpu] or _promised[gpu] + count * each_bytes <= all_bytes)
        _promised[gpu] += count * each_bytes
    try:
        yield count
    finally:
        with _changed:
            _promised[gpu] -= count * each_bytes
            _changed.notify_all()
