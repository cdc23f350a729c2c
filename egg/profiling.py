"""Printing a profile."""

import sys
from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from egg.results import console
from egg.state.bottleneck import Bottleneck, BottleneckKind
from egg.state.estimate_error import UNKNOWN
from egg.state.profile import KernelProfile
from egg.state.profiled import Profiled
from egg.tools.report import milliseconds, quantity

NAME = 32
"""Characters of a kernel's name that fit a line; a library's are hundreds."""


def print_profile(profiled: Profiled, *, as_json: bool) -> None:
    """The kernels as a table, what holds them back, and the whole pass; or one JSON value on stdout."""
    if as_json:
        sys.stdout.write(profiled.model_dump_json(indent=2) + "\n")
        return
    console.print(_kernels(profiled))
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, told in rows(profiled):
        table.add_row(name, Text(told))
    console.print(table)


def rows(profiled: Profiled) -> Iterator[tuple[str, str]]:
    """What stands below the table, line by line."""
    profile, device, ceilings = profiled.profile, profiled.device, profiled.ceilings
    yield "Forward", f"{milliseconds(profile.total_ms)} of GPU time, {profile.how}"
    if profile.source == "estimate":
        error = profiled.estimate_error
        yield "Estimate", error.told(device.target) if error else UNKNOWN
    if profile.note:
        yield "Note", profile.note
    yield "Machine", device.name if device.present else f"no GPU: compiled for {device.name}"
    rates = f"{quantity(ceilings.memory, 'B/s')} of device memory, {quantity(ceilings.l2_rate, 'B/s')} of L2"
    yield "Ceilings", f"{rates}; {ceilings.how}"
    if profile.forward:
        yield "Roofline", f"the pass is {profile.forward.told()}"
    for bottleneck in profile.bottlenecks:
        yield ("Stop" if bottleneck.kind is BottleneckKind.AT_CEILING else "Bound by"), _told(bottleneck)
    if not profile.bottlenecks:
        yield "Bound by", "nothing that these figures show"
    for kernel in profile.kernels:
        for detail in kernel.launch.details() if kernel.launch else ():
            yield "Source", f"{_short(kernel.kernel)}: {detail}"


def _kernels(profiled: Profiled) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("Kernel", overflow="fold")
    for name in ("Calls", "Time", "Share", "Ceiling", "Registers", "Shared", "Occupancy", "Waves"):
        table.add_column(name, justify="right", no_wrap=True)
    for kernel in profiled.profile.kernels:
        table.add_row(*_row(kernel))
    return table


def _row(kernel: KernelProfile) -> Iterator[Text]:
    launch, place = kernel.launch, kernel.place
    name = _short(kernel.kernel)
    yield Text(name if kernel.own else f"{name} (library)", style="" if kernel.own else "dim")
    yield Text(str(kernel.calls))
    yield Text(milliseconds(kernel.ms))
    yield Text(f"{kernel.share:.1%}")
    yield Text(f"{100 * min(place.share, 9.99):.0f} % {place.ceiling}" if place else "–")
    spilled = f" +{launch.spills} B" if launch and launch.spills else ""
    yield Text(f"{launch.registers}{spilled}" if launch else "–")
    yield Text(quantity(launch.shared_bytes, "B") if launch else "–")
    yield Text(f"{launch.occupancy:.0%} {launch.limiter}" if launch else "–")
    yield Text(f"{launch.waves:.2f}" if launch else "–")


def _told(bottleneck: Bottleneck) -> str:
    return _short(bottleneck.kernel) + bottleneck.told().removeprefix(bottleneck.kernel)


def _short(name: str) -> str:
    name = name.removeprefix("void ")
    return name if len(name) <= NAME else f"{name[: NAME - 1]}…"
