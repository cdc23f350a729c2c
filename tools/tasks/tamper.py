"""For the candidate's child: has it replaced what others measure or compare with?

Nothing here decides a verdict's numbers, which are made in other processes; it names an intent.
"""

import time
from typing import Any

import torch
import triton

WATCHED: tuple[tuple[Any, str], ...] = (
    (torch, "allclose"),
    (torch, "equal"),
    (torch, "isclose"),
    (torch.testing, "assert_close"),
    (torch.Tensor, "allclose"),
    (torch.Tensor, "equal"),
    (torch.Tensor, "__eq__"),
    (torch.cuda, "synchronize"),
    (torch.cuda.Event, "elapsed_time"),
    (torch.cuda.Event, "record"),
    (torch, "manual_seed"),
    (torch, "rand"),
    (torch, "randn"),
    (time, "perf_counter"),
    (time, "time"),
    (time, "monotonic"),
    (triton, "jit"),
)


class Tampering:
    """Remembers what was there before the candidate came."""

    def __init__(self) -> None:
        self._before = [getattr(owner, name, None) for owner, name in WATCHED]

    def found(self) -> list[str]:
        """Names that are something else now."""
        return [
            f"{getattr(owner, '__name__', owner)}.{name}"
            for (owner, name), before in zip(WATCHED, self._before, strict=True)
            if getattr(owner, name, None) is not before
        ]
