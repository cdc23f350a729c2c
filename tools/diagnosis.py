"""A profile with its conclusions: how near the ceilings it is, and what holds it back."""

from egg.state.ceilings import Ceilings
from egg.state.device import Device
from egg.state.problem import Workload
from egg.state.profile import Profile
from egg.state.settings import Policy
from egg.tools.bottleneck import classify
from egg.tools.place import place, place_forward


def diagnose(profile: Profile, workload: Workload, device: Device, policy: Policy, ceilings: Ceilings) -> Profile:
    """Place it and its kernels under the roofline and name the bottlenecks. Pure."""
    forward = place_forward(profile, workload, device, policy, ceilings)
    kernels = tuple(kernel.model_copy(update={"place": place(kernel, device, ceilings)}) for kernel in profile.kernels)
    bottlenecks = classify(profile, device, ceilings, forward)
    return profile.model_copy(update={"kernels": kernels, "forward": forward, "bottlenecks": bottlenecks})
