"""For the timer: how long a call takes, on the GPU by events, without one by the host's clock."""

import ctypes
from collections.abc import Callable
from time import perf_counter
from typing import Any, Protocol

import torch

from egg.tools.tasks.cover import cover

CAPTURE_CALLS = 3
PERSISTING_L2 = 6
"""CU_LIMIT_PERSISTING_L2_CACHE_SIZE, bytes."""


class Clock(Protocol):
    """What a bench asks of the machine it runs on."""

    device: str

    def free_bytes(self) -> int: ...
    def held_bytes(self) -> int: ...
    def sync(self) -> None: ...
    def sample(self, call: Callable[[], Any], *, apart: bool) -> tuple[float, float]: ...
    def warm(self, call: Callable[[], Any], samples: int) -> float | None: ...
    def captured(self, call: Callable[[], Any]) -> Callable[[], Any] | None: ...


class CudaClock:
    """Event pairs on the current stream, and a host clock around the same call."""

    def __init__(self, flush_bytes: int) -> None:
        self.device = "cuda"
        self._sync, self._event = torch.cuda.synchronize, torch.cuda.Event
        self._flushed = torch.empty(max(flush_bytes, 1), dtype=torch.int8, device="cuda")
        self._no_cache_set_aside, self._cover = _l2_reset(), cover()

    def free_bytes(self) -> int:
        return int(torch.cuda.mem_get_info()[0])

    def held_bytes(self) -> int:
        return int(torch.cuda.memory_reserved())

    def sync(self) -> None:
        self._sync()

    def sample(self, call: Callable[[], Any], *, apart: bool) -> tuple[float, float]:
        """Milliseconds by events and by the host.

        Before the call the second-level cache is filled with other data, and the host waits for that. Then an idle
        kernel covers the time it takes to launch the first kernels, as in any program that keeps its GPU busy; `apart`
        goes without it, so that the host's clock covers the call alone. The host waits for the whole device, whatever
        stream the work is on.
        """
        self._sync()
        self._no_cache_set_aside()
        self._flushed.zero_()
        return self._timed(call, covered=not apart)

    def warm(self, call: Callable[[], Any], samples: int) -> float | None:
        """Median milliseconds by events, nothing flushed."""
        times = sorted(self._timed(call, covered=True)[0] for _ in range(samples))
        return times[len(times) // 2]

    def _timed(self, call: Callable[[], Any], *, covered: bool) -> tuple[float, float]:
        start, end = (self._event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        self._sync()
        if covered:
            self._cover()
        began = perf_counter()
        start.record()
        call()
        end.record()
        self._sync()
        return start.elapsed_time(end), (perf_counter() - began) * 1e3

    def captured(self, call: Callable[[], Any]) -> Callable[[], Any] | None:
        """The call as a CUDA graph; None where it cannot be captured."""
        graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()  # type: ignore[no-untyped-call]
        try:
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(CAPTURE_CALLS):
                    call()
            torch.cuda.current_stream().wait_stream(side)
            with torch.cuda.graph(graph):
                call()
            self._sync()
        except Exception:  # whatever stands in its way: it is only reported
            return None
        return graph.replay


def _l2_reset() -> Callable[[], None]:
    """Makes sure that no part of the second-level cache is set aside, where a flush would not reach (cuda.h)."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        limit, reset = driver.cuCtxSetLimit, driver.cuCtxResetPersistingL2Cache
    except (OSError, AttributeError):  # no such driver: nor is there such a cache
        return lambda: None

    def nothing_set_aside() -> None:
        limit(PERSISTING_L2, ctypes.c_size_t(0))
        reset()

    return nothing_set_aside


class CpuClock:
    """The host's clock alone: lets the parent's side be tested where there is no GPU. Its figures are no result."""

    device = "cpu"

    def __init__(self, flush_bytes: int) -> None:
        pass

    def free_bytes(self) -> int:
        return 1 << 30

    def held_bytes(self) -> int:
        return 0

    def sync(self) -> None:
        pass

    def sample(self, call: Callable[[], Any], *, apart: bool) -> tuple[float, float]:
        began = perf_counter()
        call()
        spent = (perf_counter() - began) * 1e3
        return spent, spent

    def warm(self, call: Callable[[], Any], samples: int) -> float | None:
        return None

    def captured(self, call: Callable[[], Any]) -> Callable[[], Any] | None:
        return None
