"""How much of each resource a kernel uses, and from where on that is much."""

from math import isfinite
from typing import NamedTuple

from egg.state.bottleneck import BottleneckKind, Evidence
from egg.tools.bottleneck.case import Case, Origin, least, most, percent
from egg.tools.place import traffic

WELL_USED = 60.0
"""% of a measured ceiling, or of a counter's peak."""
WELL_USED_OF_DATASHEET = {"memory": 50.0, "matrix": 35.0}
WELL_USED_PLAIN = 35.0
"""% of the rate of fused multiply-adds: half of it is all that separate additions and products can do."""
PIPES = {"tensor_pipe": "matrix units", "fp32_pipe": "fp32 units", "issue_active": "issue slots"}
"""What arithmetic may fill, by counter."""


class Use(NamedTuple):
    """How much of a resource is used, and from where on that is much."""

    kind: BottleneckKind
    figure: str
    value: float
    enough: float
    source: Origin
    limiter: str = ""

    @property
    def evidence(self) -> Evidence:
        if self.value >= self.enough:
            return least(self.figure, self.value, self.enough, "%", self.source)
        return most(self.figure, self.value, self.enough, "%", self.source)


def uses(case: Case) -> list[Use]:
    """Of each resource that something is known of, the nearest to its ceiling first.

    All traffic of device memory passes through the second-level cache: a counter of that says nothing more where memory
    is well used.
    """
    memory, cache = _memory(case), _cache(case)
    if memory and cache and memory.value >= memory.enough and cache.source == "counter":
        cache = None
    found = [use for use in (memory, cache, _first_cache(case), _arithmetic(case)) if use]
    return sorted(found, key=lambda use: -use.value / use.enough)


def matrix(case: Case) -> Use | None:
    """Of the matrix units, if they were looked at."""
    return _pipe(case, "tensor_pipe")


def reckoned(case: Case) -> Use | None:
    """Arithmetic by the FLOPs that are known of it and the time it took."""
    if case.place is None or not case.place.flops:
        return None
    enough = WELL_USED if case.ceilings.measured else WELL_USED_OF_DATASHEET["matrix"]
    enough = enough if case.multiplies else WELL_USED_PLAIN
    precision = case.place.precision
    figure = f"its {precision} arithmetic, of the ceiling"
    return Use(BottleneckKind.COMPUTE, figure, percent(case.place.compute), enough, case.saw, precision)


def _memory(case: Case) -> Use | None:
    bytes_, ns, share = traffic(case.kernel), case.counter("duration"), case.counter("dram_throughput")
    kind, enough = BottleneckKind.MEMORY_BANDWIDTH, WELL_USED
    if bytes_ and ns and case.ceilings.measured:
        rate = percent(bytes_ / ns * 1e9, case.ceilings.memory)
        return Use(kind, "traffic to device memory, of its ceiling", rate, enough, "counter")
    if share is not None:
        return Use(kind, "traffic to device memory, of its peak", share, enough, "counter")
    if case.place is None or case.place.served_by_cache:
        return None
    if not case.ceilings.measured:
        enough = WELL_USED_OF_DATASHEET["memory"]
    return Use(kind, "its bytes over device memory, of the ceiling", percent(case.place.memory), enough, case.saw)


def _cache(case: Case) -> Use | None:
    kind, limiter = BottleneckKind.L2, "throughput"
    if (share := case.counter("l2_throughput")) is not None:
        return Use(kind, "second-level cache, of its peak", share, WELL_USED, "counter", limiter)
    launch = case.kernel.launch
    moved = launch.loaded_bytes + launch.stored_bytes if launch else 0.0
    if not (isfinite(moved) and moved > 0 and case.kernel.call_ms > 0):
        return None
    value = percent(1e3 * moved / case.ceilings.l2_rate, case.kernel.call_ms)
    figure = "its accesses over the second-level cache, of the ceiling"
    return Use(kind, figure, value, WELL_USED, case.saw, limiter)


def _first_cache(case: Case) -> Use | None:
    share = case.counter("l1_throughput")
    if share is None:
        return None
    figure = "first-level cache and shared memory, of their peak"
    return Use(BottleneckKind.L1, figure, share, WELL_USED, "counter", "throughput")


def _arithmetic(case: Case) -> Use | None:
    """The busiest of the pipes that were counted, whatever the kernel is taken for; else by its FLOPs."""
    counted = [use for name in PIPES if (use := _pipe(case, name))]
    return max(counted, key=lambda use: use.value) if counted else reckoned(case)


def _pipe(case: Case, name: str) -> Use | None:
    share = case.counter(name)
    if share is None:
        return None
    return Use(BottleneckKind.COMPUTE, f"{PIPES[name]} at work", share, WELL_USED, "counter", PIPES[name])
