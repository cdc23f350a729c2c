"""How many kernels a search may set up on a GPU at once, beside the other searches of this process."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from egg.state.device import Device

SHARE = 0.5
"""Of the GPU's memory, for all searches together; the rest is for checks and confirmations."""
LEAST = 2
"""The kernel as it is, and another one."""

_lock = threading.Lock()
_promised: Counter[str] = Counter()


@contextmanager
def room(device: Device, each_bytes: int, most: int) -> Iterator[int]:
    """The number of processes, at most `most`, that take `each_bytes` of the GPU each; set aside meanwhile."""
    gpu = device.uuid or device.target
    with _lock:
        free = int(SHARE * device.memory_bytes) - _promised[gpu]
        count = max(LEAST, min(most, free // max(1, each_bytes)))
        _promised[gpu] += count * each_bytes
    try:
        yield count
    finally:
        with _lock:
            _promised[gpu] -= count * each_bytes
