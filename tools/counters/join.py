"""One profile out of what three tools say of the same kernels: compiling, CUPTI's times, Nsight Compute's counters."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import isfinite
from statistics import median

from egg.state.evaluation import Launch, StaticProfile
from egg.state.metrics import METRICS
from egg.state.profile import KernelProfile, Profile
from egg.tools.counters.read import Counted, base_name, plain
from egg.tools.share import Activity, Trace

LISTED = 48
"""Kernels that are listed; the last of more stands for the rest."""
REST = "{} shorter kernels"
Place = tuple[str, tuple[int, ...]]
"""A kernel's own name and its grid."""


def of_trace(static: StaticProfile, trace: Trace, counted: Sequence[Counted] = (), note: str = "") -> Profile:
    """By traced times; counters are joined by a kernel's own name and grid."""
    owed = Counter({(own.name, own.grid): own.count for own in trace.launches})
    functions = {(own.name, own.grid): own.function for own in trace.launches}
    by_place = _by_place(counted)
    found: list[KernelProfile] = []
    for seen in trace.activity:
        own = seen.kind == "kernel" and owed[seen.name, seen.grid] > 0
        calls = max(1, round(len(seen.us) / trace.passes))
        mine = by_place.get(place(seen.name, seen.grid), []) if seen.kind == "kernel" else []
        found.append(
            KernelProfile(
                kernel=plain(seen.name),
                calls=calls,
                ms=_pass_ms(seen, trace.passes),
                share=0.0,
                measured=True,
                own=own,
                launch=_launch(static, functions.get((seen.name, seen.grid), ""), seen.grid) if own else None,
                counters=together((one.counters for one in mine), calls),
            )
        )
    return _profile(static.target, found, "counters" if any(k.counters for k in found) else "times", note)


def of_counters(static: StaticProfile, counted: Sequence[Counted], note: str = "") -> Profile:
    """By the durations that Nsight Compute saw, where nothing else timed the kernels."""
    groups: dict[Place, list[Counted]] = defaultdict(list)
    for one in counted:
        groups[one.kernel, one.grid].append(one)
    found: list[KernelProfile] = []
    for (kernel, grid), mine in groups.items():
        counters = together(one.counters for one in mine)
        found.append(
            KernelProfile(
                kernel=kernel,
                calls=len(mine),
                ms=counters.get("duration", 0.0) / 1e6,
                share=0.0,
                measured=True,
                own=any(one.kernel == kernel for one in static.launches),
                launch=_launch(static, kernel, grid),
                counters=counters,
            )
        )
    return _profile(static.target, found, "counters", note)


def together(launches: Iterable[dict[str, float]], calls: int | None = None) -> dict[str, float]:
    """Counters of several launches of one kernel: sums of what adds up, of all else the average by time.

    Sums are of `calls`, where only some were counted.
    """
    each = list(launches)
    calls = calls or len(each)
    found: dict[str, float] = {}
    for metric in METRICS:
        read = [(one[metric.name], one.get("duration") or 1.0) for one in each if metric.name in one]
        if read:
            total = sum(value for value, _ in read) * (calls / len(read))
            weighted = sum(value * ns for value, ns in read) / sum(ns for _, ns in read)
            found[metric.name] = total if metric.adds_up else weighted
    return found


def place(kernel: str, grid: tuple[int, ...]) -> Place:
    """What two tools agree on."""
    return base_name(kernel), (*grid, 1, 1, 1)[:3]


def _by_place(counted: Sequence[Counted]) -> dict[Place, list[Counted]]:
    found: dict[Place, list[Counted]] = defaultdict(list)
    for one in counted:
        found[place(one.kernel, one.grid)].append(one)
    return found


def _pass_ms(seen: Activity, passes: int) -> float:
    """Median over passes of what all its calls took, where each pass made as many; else the average."""
    times = [us for us in seen.us if isfinite(us) and us > 0]
    calls, left = divmod(len(times), passes)
    if left or not calls:
        return sum(times) / passes / 1e3
    return median(sum(times[start : start + calls]) for start in range(0, len(times), calls)) / 1e3


def _launch(static: StaticProfile, function: str, grid: tuple[int, ...]) -> Launch | None:
    """What compiling told of it: on the same grid, else of that name; None where several did different work."""
    named = [launch for launch in static.launches if launch.kernel == function]
    same = [launch for launch in named if place("", launch.grid) == place("", grid)]
    found = same or named
    return found[0] if len(found) == 1 else None


def _profile(target: str, found: list[KernelProfile], source: str, note: str) -> Profile:
    found = sorted(found, key=lambda kernel: -kernel.ms)
    total = sum(kernel.ms for kernel in found)
    if len(found) > LISTED:
        short = found[LISTED - 1 :]
        rest = KernelProfile(
            kernel=REST.format(len(short)),
            calls=sum(kernel.calls for kernel in short),
            ms=sum(kernel.ms for kernel in short),
            share=0.0,
            measured=True,
            own=all(kernel.own for kernel in short),
        )
        found = [*found[: LISTED - 1], rest]
    shared = (k.model_copy(update={"share": min(1.0, k.ms / total) if total else 0.0}) for k in found)
    return Profile.model_validate(
        {"target": target, "kernels": tuple(shared), "total_ms": total, "source": source, "note": note}
    )
