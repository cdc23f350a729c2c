"""A profile with its conclusions: how near the ceilings it is, and what holds it back."""

from collections.abc import Iterable

from egg.state.bottleneck import Bottleneck, BottleneckKind
from egg.state.ceilings import Ceilings
from egg.state.device import Device
from egg.state.launch import StaticProfile
from egg.state.problem import Workload
from egg.state.profile import Profile
from egg.state.settings import Policy
from egg.state.stage import Group
from egg.tools.bottleneck import classify
from egg.tools.ceilings import of_datasheet
from egg.tools.place import place_forward, placed
from egg.tools.verdict_profile import estimated


def diagnose(profile: Profile, workload: Workload, device: Device, policy: Policy, ceilings: Ceilings) -> Profile:
    """Place it and its kernels under the roofline and name the bottlenecks. Pure."""
    forward, profile = place_forward(profile, workload, device, policy, ceilings), placed(profile, device, ceilings)
    bottlenecks = classify(profile, device, ceilings, forward)
    return profile.model_copy(update={"forward": forward, "bottlenecks": bottlenecks})


def by_estimate(static: StaticProfile, device: Device) -> tuple[Bottleneck, ...]:
    """What holds a kernel back as far as compiling it tells, against the rates that the estimate rests on too. Pure."""
    rates = of_datasheet(device)
    return classify(placed(estimated(static), device, rates), device, rates)


def nothing_left(
    bottlenecks: Iterable[Bottleneck], headroom: float | None, group: Group, worth_it: float
) -> str | None:
    """Why changes of a group have nothing to gain, if they have not; only measured times say so.

    A structure at the ceiling of arithmetic may still be replaced by one that needs less of it.
    """
    done = [bottleneck for bottleneck in bottlenecks if bottleneck.kind is BottleneckKind.AT_CEILING]
    whole = next((bottleneck for bottleneck in done if not bottleneck.kernel), None)
    if whole and (group != "structure" or whole.limiter == "memory"):
        return f"{whole.told()}: stop"
    if group != "structure" and headroom is not None and headroom < worth_it:
        reasons = "; ".join(bottleneck.told() for bottleneck in done) or f"{headroom:.1%} below the ceilings"
        return f"{reasons}: stop"
    return None
