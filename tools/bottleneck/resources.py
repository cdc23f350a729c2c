"""Which resource a kernel uses well, and what it waits for where it uses none."""

from egg.state.bottleneck import Bottleneck, BottleneckKind, Evidence
from egg.state.stage import Group
from egg.tools.bottleneck.case import Case, least, most, percent
from egg.tools.bottleneck.uses import matrix, reckoned, uses
from egg.tools.place import traffic, useful_bytes

OCCUPANCY, OCCUPANCY_OF_PRODUCTS = 25.0, 10.0
"""% of the warps; products keep their operands in flight without many."""
STALLED = 20.0
"""% of the warps that wait for memory; EGG (ICML 2026) aims below it."""
REREAD = 1.5
HALF_WORD = 16
"""Bits of one thread's access. 128 is the widest; streams of 32 keep up with a copy on an H200."""
HALF_SECTOR = 16.0
"""Bytes."""
PIPELINED = 4


def used(case: Case, *, spills: bool) -> list[Bottleneck]:
    """The resource that is well used, if there is one. Spilled registers are no bytes that are read again."""
    nearest = next(iter(uses(case)), None)
    if nearest is None or nearest.value < nearest.enough:
        return []
    if nearest.kind is BottleneckKind.COMPUTE:
        return [case.bottleneck(nearest.kind, "structure", nearest.evidence, limiter=nearest.limiter)]
    if sparse := _sparse(case):
        return [case.bottleneck(nearest.kind, "memory", sparse, nearest.evidence, limiter=nearest.limiter)]
    if nearest.kind in (BottleneckKind.L1, BottleneckKind.L2):
        return [case.bottleneck(nearest.kind, "tiling", nearest.evidence, limiter=nearest.limiter)]
    if not spills and (again := reread(case)):
        return [case.bottleneck(BottleneckKind.L2, "mapping", again, nearest.evidence, limiter="misses")]
    narrow = _narrow(case)
    return [case.bottleneck(nearest.kind, "memory" if narrow else "structure", nearest.evidence, *narrow)]


def unused(case: Case) -> list[Bottleneck]:
    """What keeps all resources from being used."""
    if low := _occupancy(case):
        return [low]
    if case.multiplies and _by_compute(case) and (use := matrix(case) or reckoned(case)):
        stages = case.kernel.launch.stages if case.kernel.launch else 0
        stage: Group = "tiling" if stages >= PIPELINED else "memory"
        instruction = case.kernel.launch.tensor_core if case.kernel.launch else ""
        return [case.bottleneck(BottleneckKind.TENSOR_PIPE_STARVED, stage, use.evidence, limiter=instruction)]
    stalled, nearest = case.counter("stall_memory"), next(iter(uses(case)), None)
    if stalled is not None:
        if stalled < STALLED:
            return []
        evidence = least("warps that wait for memory", stalled, STALLED, "%", "counter")
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


def _by_compute(case: Case) -> bool:
    """Whether arithmetic rather than memory is what it is to wait for."""
    if case.place is not None and case.place.flops > 0:
        return case.place.compute >= case.place.memory
    return (case.counter("tensor_pipe") or 0.0) >= (case.counter("dram_throughput") or 0.0)


def _occupancy(case: Case) -> Bottleneck | None:
    launch, counted = case.kernel.launch, case.counter("occupancy")
    if launch is None and counted is None:
        return None
    share = counted if counted is not None else percent(launch.occupancy if launch else 1.0)
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


def _sparse(case: Case) -> Evidence | None:
    """Loads that fetch more than they use, which costs every level alike."""
    used_bytes = case.counter("load_bytes_per_sector")
    if used_bytes is None or not 0 < used_bytes <= HALF_SECTOR:
        return None
    return most("of a 32-byte sector loads use", used_bytes, HALF_SECTOR, "bytes", "counter")


def _narrow(case: Case) -> list[Evidence]:
    """Accesses that fetch more than they use, or less than they could."""
    if sparse := _sparse(case):
        return [sparse]
    bits = case.kernel.launch.load_bits if case.kernel.launch else None
    return [most("loaded by a thread at once", bits, HALF_WORD, "bits")] if bits and 0 < bits <= HALF_WORD else []
