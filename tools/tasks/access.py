"""For the candidate's child: in the interpreter, every address a kernel touches must lie in one of its arguments.

The interpreter reads and writes raw memory, so a missing mask otherwise passes unseen or brings the process down.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from triton.runtime import interpreter

Range = tuple[int, int]


class OutOfBounds(Exception):
    """A load or store outside every tensor that the kernel was given."""


class CheckedMemory:
    """The interpreter's memory operations, each preceded by a look at its addresses."""

    def __init__(self, plain: Any) -> None:
        self.plain = plain
        self.ranges: list[Range] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)

    def load(self, pointers: Any, mask: Any, other: Any, dtype: Any) -> Any:
        self._check("load from", pointers, mask, np.dtype(dtype).itemsize)
        return self.plain.load(pointers, mask, other, dtype)

    def store(self, pointers: Any, value: Any, mask: Any) -> Any:
        self._check("store to", pointers, mask, np.asarray(value).itemsize)
        return self.plain.store(pointers, value, mask)

    def atomic_rmw(self, operation: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        self._check("atomic on", pointers, mask, np.asarray(value).itemsize)
        return self.plain.atomic_rmw(operation, pointers, value, mask, *rest)

    def _check(self, what: str, pointers: Any, mask: Any, itemsize: int) -> None:
        addresses = np.asarray(pointers)
        active = np.broadcast_to(np.asarray(mask, dtype=bool), addresses.shape)
        if not active.all():
            addresses = addresses[active]
        if not addresses.size:
            return
        low, high = int(addresses.min()), int(addresses.max()) + itemsize
        if any(start <= low and high <= end for start, end in self.ranges):
            return
        inside = np.zeros(addresses.shape, dtype=bool)
        for start, end in self.ranges:
            inside |= (addresses >= start) & (addresses + itemsize <= end)
        if not inside.all():
            count = int((~inside).sum())
            raise OutOfBounds(
                f"{what} {count} of {inside.size} addresses outside the kernel's tensors: a mask is missing"
            )


def watch_memory() -> None:
    """Check every kernel that this process interprets from now on."""
    memory = CheckedMemory(interpreter._interpreter)
    interpreter._interpreter = memory
    prepare = interpreter.GridExecutor._init_args_hst

    def note_arguments(executor: Any, args: Any, kwargs: Any) -> Any:
        prepared = prepare(executor, args, kwargs)
        memory.ranges = list(_ranges(prepared))
        return prepared

    interpreter.GridExecutor._init_args_hst = note_arguments


def _ranges(value: Any) -> Iterator[Range]:
    if isinstance(value, torch.Tensor):
        storage = value.untyped_storage()
        yield storage.data_ptr(), storage.data_ptr() + storage.nbytes()
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _ranges(item)
    elif isinstance(value, dict):
        yield from _ranges(list(value.values()))
    elif hasattr(value, "base"):
        yield from _ranges(value.base)
