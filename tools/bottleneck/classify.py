"""The rules, kernel by kernel, from what makes the others meaningless to what is left when nothing else is the matter.

1. A launch too short to be looked into: launch-bound.
2. Nearly what the ceiling allows: stop.
3. What costs time whatever the ceiling: spills, too few programs, multiprocessors that wait for the last ones.
4. A resource that is well used: device memory, a cache, arithmetic; the nearest to its ceiling.
5. If neither: low occupancy, matrix units that starve, else the latency of memory.

Counters are believed before times, times before what compiling tells. 60 % of a peak is well used, as in Nsight
Compute; of a datasheet's figure less, as a good kernel reaches no more than 0.9 (memory) or 0.6 (matrix units) of it.
"""

from egg.state.bottleneck import Bottleneck, BottleneckKind
from egg.state.ceilings import Ceilings
from egg.state.device import Device
from egg.state.place import Place
from egg.state.profile import Profile
from egg.tools.bottleneck.case import Case, Origin, least, most, percent
from egg.tools.bottleneck.causes import causes
from egg.tools.bottleneck.resources import reread, unused, used
from egg.tools.estimate import LAUNCH_MS

AT_CEILING = 92.0
"""% of a ceiling from which on there is nothing left to gain."""


def classify(
    profile: Profile, device: Device, ceilings: Ceilings, forward: Place | None = None
) -> tuple[Bottleneck, ...]:
    """The bottlenecks of a profile: of the whole pass, then of its kernels, the one that takes longest first.

    Args:
        profile: the kernels of one forward pass, placed under the same ceilings.
        device: the GPU that it is of.
        ceilings: how fast that is at best.
        forward: the place of the whole pass, if what the problem needs is known.
    """
    found = _of_pass(profile, forward)
    for kernel in profile.kernels:
        found += _of_kernel(Case(kernel, device, ceilings))
    return tuple(sorted(found, key=lambda bottleneck: -bottleneck.share))


def _of_pass(profile: Profile, forward: Place | None) -> list[Bottleneck]:
    if forward and _at_ceiling(forward):
        return [_stop("", forward, 1.0)]
    calls = sum(kernel.calls for kernel in profile.kernels)
    starting = percent(calls * LAUNCH_MS, profile.total_ms)
    if calls < 2 or starting < 100:
        return []
    source: Origin = "static" if profile.source == "estimate" else "time"
    evidence = least(f"starting {calls} kernels, of the time they take", starting, 100.0, "%", source)
    return [Bottleneck(kind=BottleneckKind.LAUNCH_BOUND, evidence=(evidence,), stage="structure", share=1.0)]


def _of_kernel(case: Case) -> list[Bottleneck]:
    kernel = case.kernel
    if kernel.call_ms <= LAUNCH_MS:
        evidence = most("GPU time of a call", kernel.call_ms, LAUNCH_MS, "ms", case.saw)
        return [case.bottleneck(BottleneckKind.LAUNCH_BOUND, "structure", evidence)]
    if case.place and _at_ceiling(case.place) and not reread(case):
        return [_stop(kernel.kernel, case.place, kernel.share)]
    found = causes(case)
    spills = any(cause.kind is BottleneckKind.SPILLS for cause in found)
    return found + (used(case, spills=spills) or ([] if found else unused(case)))


def _at_ceiling(place: Place) -> bool:
    """Only a measured time proves it."""
    return place.measured and percent(place.reached) >= AT_CEILING


def _stop(kernel: str, at: Place, share: float) -> Bottleneck:
    evidence = least(f"{at.ceiling} ceiling, reached", percent(at.reached), AT_CEILING, "%", "time")
    return Bottleneck(
        kind=BottleneckKind.AT_CEILING,
        kernel=kernel,
        evidence=(evidence,),
        stage=None,
        limiter=at.ceiling,
        share=share,
    )
