"""The roofline: kernels and the forward pass under the ceilings of the GPU (Williams et al., CACM 52(4), 2009)."""

from math import isfinite
from typing import Literal

from egg.state.ceilings import Ceilings
from egg.state.device import Device
from egg.state.evaluation import Launch
from egg.state.place import Place
from egg.state.problem import Workload
from egg.state.profile import KernelProfile, Profile
from egg.state.settings import Policy
from egg.tools.roofline import roofline_ms

INSTEAD = {"fp8": "fp16"}
"""Whose units do the products of a precision that has none of its own."""


def place(kernel: KernelProfile, device: Device, ceilings: Ceilings) -> Place | None:
    """One kernel's place; None for one of which neither bytes nor FLOPs are known, or that took no time.

    Bytes are those that have to be moved, each once: what a kernel reads from memory again does not raise it.
    """
    launch, ms = kernel.launch, kernel.call_ms
    flops = finite(launch.flops) if launch else {}
    crossed = traffic(kernel) / kernel.calls
    moved = useful_bytes(launch) if launch else crossed
    if crossed:  # what stays in the cache to be written later is no more than it holds
        moved = min(moved, crossed + device.l2_bytes)
    if not (ms > 0 and (moved or flops)):
        return None
    times = {name: amount / rate for name, amount in flops.items() if (rate := matrix_rate(name, device, ceilings))}
    return Place(
        kernel=kernel.kernel,
        ms=ms,
        measured=kernel.measured,
        bytes=moved,
        flops=sum(flops.values()),
        precision=max(times, key=lambda name: times[name], default="fp32"),
        memory=_ratio(1e3 * moved / ceilings.memory, ms),
        compute=_ratio(1e3 * sum(times.values()), ms),
        ceilings=_origin(ceilings),
    )


def placed(profile: Profile, device: Device, ceilings: Ceilings) -> Profile:
    """The profile with a place for each kernel that can have one."""
    kernels = tuple(kernel.model_copy(update={"place": place(kernel, device, ceilings)}) for kernel in profile.kernels)
    return profile.model_copy(update={"kernels": kernels})


def place_forward(
    profile: Profile, workload: Workload, device: Device, policy: Policy, ceilings: Ceilings
) -> Place | None:
    """The forward pass's place: what the problem needs at least over the GPU time it took."""
    if not profile.total_ms > 0:
        return None
    peak = {**device.peak, **finite(ceilings.matrix)}
    reached = device.model_copy(update={"bandwidth": ceilings.memory, "peak": peak})
    computing, _ = roofline_ms(workload.model_copy(update={"min_bytes": 0}), reached, policy)
    return Place(
        ms=profile.total_ms,
        measured=profile.source != "estimate",
        bytes=workload.min_bytes,
        flops=workload.flops,
        precision="matrix" if workload.matmul_flops * 2 > workload.flops else "fp32",
        memory=_ratio(1e3 * workload.min_bytes / ceilings.memory, profile.total_ms),
        compute=_ratio(computing, profile.total_ms),
        ceilings=_origin(ceilings),
    )


def useful_bytes(launch: Launch) -> float:
    """What its arguments span, and no more than it touches where that could be counted."""
    touched = launch.loaded_bytes + launch.stored_bytes
    spanned = float(max(0, launch.bytes))
    counted = not launch.guessed and isfinite(touched) and touched > 0
    return min(spanned, touched) if counted else spanned


def traffic(kernel: KernelProfile) -> float:
    """Bytes that crossed device memory in all calls, by counters; 0 where they were not counted."""
    return sum(counter(kernel, name) or 0.0 for name in ("dram_read_bytes", "dram_write_bytes"))


def counter(kernel: KernelProfile, name: str) -> float | None:
    """A counter that makes sense, or None."""
    value = kernel.counters.get(name)
    return value if value is not None and isfinite(value) and value >= 0 else None


def matrix_rate(precision: str, device: Device, ceilings: Ceilings) -> float:
    """FLOP/s at best; 0 where nobody knows."""
    rates = device.peak | finite(ceilings.matrix)
    return rates.get(precision) or rates.get(INSTEAD.get(precision, "fp32")) or rates.get("fp32", 0.0)


def finite(amounts: dict[str, float]) -> dict[str, float]:
    """Those that are numbers above 0."""
    return {name: value for name, value in amounts.items() if isfinite(value) and value > 0}


def _ratio(one: float, other: float) -> float:
    ratio = one / other
    return ratio if isfinite(ratio) else 0.0


def _origin(ceilings: Ceilings) -> Literal["measured", "datasheet"]:
    return "measured" if ceilings.measured else "datasheet"
