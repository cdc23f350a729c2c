"""Run in a child, which alone may use the GPU."""

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import torch

from egg.tools.tasks.clocks import CudaClock


def calls(_: dict[str, Any]) -> dict[str, Any]:
    """Median milliseconds of a product, the same on another stream, and an addition that the host is slow to launch."""
    clock = CudaClock(1 << 26)
    x, small = torch.randn(2048, 2048, device="cuda"), torch.ones(8, device="cuda")
    side = torch.cuda.Stream()

    def plain() -> None:
        x @ x

    def aside() -> None:
        with torch.cuda.stream(side):
            x @ x
        torch.cuda.current_stream().wait_stream(side)

    def late() -> None:
        began = perf_counter()
        while perf_counter() - began < 1e-4:
            pass
        small.add_(1)

    def typical(call: Callable[[], None]) -> float:
        return median(clock.sample(call, apart=False)[0] for _ in range(30))

    for call in (plain, aside, late):
        typical(call)
    return {call.__name__: typical(call) for call in (plain, aside, late)}
