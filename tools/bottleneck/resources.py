"""Which resource a kernel uses well, and what it waits for where it uses none."""

from math import isfinite
from typing import NamedTuple

from egg.state.bottleneck import Bottleneck, BottleneckKind, Evidence
from egg.state.stage import Group
from egg.tools.bottleneck.case import Case, Origin, least, most, percent
from egg.tools.place import traffic, useful_bytes

WELL_USED = 60.0
"""% of a measured ceiling, or of a counter's peak."""
WELL_USED_OF_DATASHEET = {"memory": 50.0, "matrix": 35.0}
WELL_USED_PLAIN = 35.0
"""% of the rate of fused multiply-adds: half of it is all that separate additions and products can do."""
OCCUPANCY, OCCUPANCY_OF_PRODUCTS = 25.0, 10.0
"""% of the warps; products keep their operands in flight without many."""
STALLED = 20.0
"""% of the warps that wait for memory; EGG (ICML 2026) aims below it."""
REREAD = 1.5
NARROW_BITS = 16
"""Of one thread's access. 128 is the widest; streams of 32 keep up with a copy on an H200."""
HALF_SECTOR = 16.0
PIPELINED = 4


class Use(NamedTuple):
    """How much of a resource is used, and from where on that is much."""

    kind: BottleneckKind
    figure: str
    value: float
    enough: float
    source: Origin

    @property
    def evidence(self) -> Evidence:
        if self.value >= self.enough:
            return least(self.figure, self.value, self.enough, "%", self.source)
        return most(self.figure, self.value, self.enough, "%", self.source)


def uses(case: Case) -> list[Use]:
    """Of each resource that something is known of, the nearest to its ceiling first."""
    found = [use for use in (_memory(case), _cache(case), _first_cache(case), _arithmetic(case)) if use]
    return sorted(found, key=lambda use: -use.value / use.enough)


def used(case: Case) -> list[Bottleneck]:
    """The resource that is well used, if there is one."""
    nearest = next(iter(uses(case)), None)
    if nearest is None or nearest.value < nearest.enough:
        return []
    if nearest.kind in (BottleneckKind.L1, BottleneckKind.L2):
        return [case.bottleneck(nearest.kind, "tiling", nearest.evidence, limiter="throughput")]
    if nearest.kind is BottleneckKind.COMPUTE:
        limiter = case.place.precision if case.place else ""
        return [case.bottleneck(nearest.kind, "structure", nearest.evidence, limiter=limiter)]
    if again := reread(case):
        return [case.bottleneck(BottleneckKind.L2, "mapping", again, nearest.evidence, limiter="misses")]
    narrow = _narrow(case)
    return [case.bottleneck(nearest.kind, "memory" if narrow else "structure", nearest.evidence, *narrow)]


def unused(case: Case) -> list[Bottleneck]:
    """What keeps all resources from being used."""
    if low := _occupancy(case):
        return [low]
    place = case.place
    if case.multiplies and place and place.compute >= place.memory and (use := _arithmetic(case)):
        stages = case.kernel.launch.stages if case.kernel.launch else 0
        stage: Group = "tiling" if stages >= PIPELINED else "memory"
        instruction = case.kernel.launch.tensor_core if case.kernel.launch else ""
        return [case.bottleneck(BottleneckKind.TENSOR_PIPE_STARVED, stage, use.evidence, limiter=instruction)]
    stalled, nearest = case.counter("stall_memory"), next(iter(uses(case)), None)
    if stalled is not None:
        if stalled < STALLED:
            return []
        evidence = least("warps that wait for memory", percent(stalled, 100.0), STALLED, "%", "counter")
        return [case.bottleneck(BottleneckKind.MEMORY_LATENCY, "memory", evidence, *_narrow(case))]
    if nearest is None:
        return []
    return [case.bottleneck(BottleneckKind.MEMORY_LATENCY, "memory", nearest.evidence, *_narrow(case))]


def reread(case: Case) -> Evidence | None:
    """Whether far more crosses device memory than has to."""
    launch = case.kernel.launch
    needed = case.kernel.calls * useful_bytes(launch) if launch else 0.0
    times = percent(traffic(case.kernel), needed) / 100
    return (
        least("traffic to device memory, times the bytes needed", times, REREAD, "", "counter")
        if times >= REREAD
        else None
    )


def _memory(case: Case) -> Use | None:
    bytes_, ns, share = traffic(case.kernel), case.counter("duration"), case.counter("dram_throughput")
    kind, enough = BottleneckKind.MEMORY_BANDWIDTH, WELL_USED
    if bytes_ and ns and case.ceilings.measured:
        rate = percent(bytes_ / ns * 1e9, case.ceilings.memory)
        return Use(kind, "traffic to device memory, of its ceiling", rate, enough, "counter")
    if share is not None:
        return Use(kind, "traffic to device memory, of its peak", percent(share, 100.0), enough, "counter")
    if case.place is None or case.place.served_by_cache:
        return None
    if not case.ceilings.measured:
        enough = WELL_USED_OF_DATASHEET["memory"]
    return Use(kind, "its bytes over device memory, of the ceiling", percent(case.place.memory), enough, case.saw)


def _cache(case: Case) -> Use | None:
    if (share := case.counter("l2_throughput")) is not None:
        figure = "second-level cache, of its peak"
        return Use(BottleneckKind.L2, figure, percent(share, 100.0), WELL_USED, "counter")
    launch = case.kernel.launch
    moved = launch.loaded_bytes + launch.stored_bytes if launch else 0.0
    if not (isfinite(moved) and moved > 0 and case.kernel.call_ms > 0):
        return None
    value = percent(1e3 * moved / case.ceilings.l2_rate, case.kernel.call_ms)
    return Use(
        BottleneckKind.L2, "its accesses over the second-level cache, of the ceiling", value, WELL_USED, case.saw
    )


def _first_cache(case: Case) -> Use | None:
    share = case.counter("l1_throughput")
    figure = "first-level cache and shared memory, of their peak"
    return None if share is None else Use(BottleneckKind.L1, figure, percent(share, 100.0), WELL_USED, "counter")


def _arithmetic(case: Case) -> Use | None:
    kind = BottleneckKind.COMPUTE
    names = ("tensor_pipe",) if case.multiplies else ("fp32_pipe", "issue_active")
    counted = [share for name in names if (share := case.counter(name)) is not None]
    if counted:
        figure = "matrix units at work" if case.multiplies else "arithmetic units or issue slots at work"
        return Use(kind, figure, percent(max(counted), 100.0), WELL_USED, "counter")
    if case.place is None or not case.place.flops:
        return None
    enough = WELL_USED if case.ceilings.measured else WELL_USED_OF_DATASHEET["matrix"]
    enough = enough if case.multiplies else WELL_USED_PLAIN
    figure = f"its {case.place.precision} arithmetic, of the ceiling"
    return Use(kind, figure, percent(case.place.compute), enough, case.saw)


def _occupancy(case: Case) -> Bottleneck | None:
    launch, counted = case.kernel.launch, case.counter("occupancy")
    if launch is None and counted is None:
        return None
    share = percent(counted, 100.0) if counted is not None else percent(launch.occupancy if launch else 1.0)
    enough = OCCUPANCY_OF_PRODUCTS if case.multiplies else OCCUPANCY
    if share > enough:
        return None
    limiter = launch.limiter if launch else _limiter(case)
    stage: Group = "memory" if limiter == "shared" and launch and launch.stages > 1 else "tiling"
    evidence = most(
        "warps a multiprocessor can hold of it", share, enough, "%", "static" if counted is None else "counter"
    )
    return case.bottleneck(BottleneckKind.OCCUPANCY, stage, evidence, limiter=limiter)


def _limiter(case: Case) -> str:
    limits = {name: case.counter(f"limit_{name}") for name in ("registers", "shared", "warps", "blocks")}
    known = {name: limit for name, limit in limits.items() if limit is not None}
    return min(known, key=lambda name: known[name], default="")


def _narrow(case: Case) -> list[Evidence]:
    """Accesses that fetch more than they use, or less than they could."""
    used_bytes = case.counter("load_bytes_per_sector")
    if used_bytes is not None and 0 < used_bytes <= HALF_SECTOR:
        return [most("of a 32-byte sector loads use", used_bytes, HALF_SECTOR, "bytes", "counter")]
    bits = case.kernel.launch.load_bits if case.kernel.launch else None
    return [most("loaded by a thread at once", bits, NARROW_BITS, "bits")] if bits and 0 < bits <= NARROW_BITS else []
