"""Numbers as a model reads them."""

import re

from egg.state.device import Device
from egg.state.evaluation import Baseline, Launch, StaticProfile
from egg.state.metrics import of_stage
from egg.state.profile import KernelProfile, Profile
from egg.state.stage import Group
from egg.tools.diagnosis import by_estimate

NAME = 60
"""Characters of a kernel's name; a library's are hundreds."""
SHOWN = 12
"""Kernels that are listed, the longest."""
LOOKED_AT = re.compile(r"(\d+) of (\d+) points")
"""In the sentence that a stage keeps of its search, which is all that it keeps."""


def profile_text(profile: StaticProfile, baseline: Baseline, device: Device) -> str:
    """The launches of a forward pass, the estimate, what the hardware allows, and what holds the kernels back most."""
    lines: list[str] = []
    for launch in profile.launches:
        lines += [f"- {_launch(launch)}", *(f"  - {detail}" for detail in launch.details())]
    if profile.torch_ops:
        lines.append(f"- PyTorch does: {', '.join(profile.torch_ops)}")
    lines.append(f"Estimated {profile.estimate_ms:.4g} ms; roofline {baseline.roofline_ms:.4g} ms ({baseline.bound}).")
    if held := by_estimate(profile, device):
        lines.append(f"By the estimate: {held[0].told()}.")
    return "\n".join(lines)


def diagnosis_text(profile: Profile, group: Group) -> str:
    """Where the time goes, how near the ceilings that is, and what holds it back; counters of the group's stage."""
    lines = [f"GPU time of a pass, {profile.how}: {profile.total_ms:.4g} ms."]
    if profile.note:
        lines.append(f"Note: {profile.note}.")
    if profile.forward:
        lines.append(f"Against what the module needs at least, the pass is {profile.forward.told()}.")
    lines += [f"- {_kernel(kernel, group)}" for kernel in profile.kernels[:SHOWN]]
    if profile.bottlenecks:
        lines += ["What holds it back, the longest kernel's first:", *(f"- {b.told()}" for b in profile.bottlenecks)]
    return "\n".join(lines)


def search_text(told: str) -> str:
    """The sentence on a machine search, and what that search left untried. Nothing more where nothing was searched."""
    counted = LOOKED_AT.search(told)
    if counted is None:
        return f"{told}."
    looked, there = map(int, counted.groups())
    rest = f"{there - looked} points were not looked at" if looked < there else "all points were looked at"
    return (
        f"{told}. Of its space {rest}; values outside it (a larger step) and combinations with another stage's "
        "numbers were not tried. Propose nothing that it tried."
    )


def _kernel(kernel: KernelProfile, group: Group) -> str:
    name = kernel.kernel[:NAME] + ("" if kernel.own else " (not Triton of this file)")
    at = f", {kernel.place.told()}" if kernel.place else ""
    units = {"%": " %", "byte": " B"}
    read = "".join(
        f", {metric.name} {kernel.counters[metric.name]:.4g}{units.get(metric.unit, '')}"
        for metric in of_stage(group)
        if metric.name in kernel.counters
    )
    times = f" in {kernel.calls} calls" if kernel.calls > 1 else ""
    return f"{name}: {kernel.ms:.4g} ms{times}, {kernel.share:.0%}{at}{read}"


def _launch(launch: Launch) -> str:
    grid = "x".join(str(size) for size in launch.grid)
    spills = f", {launch.spills} B spilled" if launch.spills else ""
    name = f"{launch.kernel} {launch.calls} times" if launch.calls > 1 else launch.kernel
    return (
        f"{name}: grid {grid} ({launch.waves:.2f} waves), {launch.warps} warps, {launch.stages} stages, "
        f"{launch.registers} registers{spills}, {launch.shared_bytes} B shared, "
        f"occupancy {launch.occupancy:.0%} (limited by {launch.limiter}), {_size(launch.bytes)}, "
        f"{_widths(launch)}tensor cores: {launch.tensor_core}, est. {launch.estimate_ms:.4g} ms"
    )


def _size(count: int) -> str:
    """`33.6 MB`, `15.0 GB`."""
    return f"{count / 1e9:.1f} GB" if count >= 999.5e6 else f"{count / 1e6:.3g} MB"


def _widths(launch: Launch) -> str:
    """Bits that a thread moves at once; where the narrowest that matters is another, that too."""
    sides = (
        ("loads", launch.load_bits, launch.narrowest_load_bits),
        ("stores", launch.store_bits, launch.narrowest_store_bits),
    )
    told = [
        f"{name} of {usual} bits" + (f" (some {least})" if least and least < usual else "")
        for name, usual, least in sides
        if usual
    ]
    return "".join(f"{part}, " for part in (*told, *(["tiles by TMA"] if launch.bulk else [])))
