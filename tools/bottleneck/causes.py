"""What costs a kernel time whatever its ceiling: spills, too few programs, multiprocessors that wait for the last."""

from math import ceil, isfinite

from egg.state.bottleneck import Bottleneck, BottleneckKind, Evidence
from egg.tools.bottleneck.case import Case, Origin, least, most, percent

SPILLED_BYTES = 16
SPILLED_SHARE = 1.0
"""% of a kernel's loads from which on its spills are on the path that is taken often."""
PROGRAMS_A_MULTIPROCESSOR, WARPS_A_MULTIPROCESSOR = 0.9, 4.0
FILLED = 80.0
"""% of the time in which an average multiprocessor should have work."""


def causes(case: Case) -> list[Bottleneck]:
    """All that apply."""
    return [*_spills(case), *_too_few(case), *_imbalance(case)]


def _spills(case: Case) -> list[Bottleneck]:
    launch, spilled = case.kernel.launch, case.counter("local_bytes")
    if launch is None or launch.spills < SPILLED_BYTES:
        return []
    evidence = [least("spilled by a thread", launch.spills, SPILLED_BYTES, "bytes")]
    loaded = case.kernel.calls * launch.loaded_bytes
    if spilled is not None and isfinite(loaded) and loaded > 0:
        share = percent(spilled, loaded)
        if share < SPILLED_SHARE:
            return []
        evidence.append(least("spills read back, of all loads", share, SPILLED_SHARE, "%", "counter"))
    return [case.bottleneck(BottleneckKind.SPILLS, "tiling", *evidence, limiter="registers")]


def _too_few(case: Case) -> list[Bottleneck]:
    if not case.programs:
        return []
    each = case.programs / case.device.multiprocessors
    warps = case.warps * each
    if each <= PROGRAMS_A_MULTIPROCESSOR:
        evidence = most("programs a multiprocessor", each, PROGRAMS_A_MULTIPROCESSOR)
    elif 0 < warps <= WARPS_A_MULTIPROCESSOR and not case.multiplies:
        evidence = most("warps a multiprocessor", warps, WARPS_A_MULTIPROCESSOR)
    else:
        return []
    return [case.bottleneck(BottleneckKind.TOO_FEW_PROGRAMS, "mapping", evidence)]


def _imbalance(case: Case) -> list[Bottleneck]:
    """By the multiprocessors' own clocks, else by the last wave's programs."""
    if 0 < case.programs <= case.device.multiprocessors:
        return []
    busy, busiest = case.counter("busy_cycles"), case.counter("busiest_cycles")
    if busy is not None and busiest:
        evidence = _within("work of an average multiprocessor, of the busiest's", percent(busy, busiest), "counter")
    else:
        waves = case.kernel.launch.waves if case.kernel.launch else 0.0
        if not (isfinite(waves) and waves > 1):
            return []
        evidence = _within(f"{waves:.3g} waves, of whole ones", percent(waves, ceil(waves)), "static")
    return [case.bottleneck(BottleneckKind.IMBALANCE, "mapping", evidence)] if evidence else []


def _within(figure: str, filled: float, source: Origin) -> Evidence | None:
    return most(figure, filled, FILLED, "%", source) if filled <= FILLED else None
