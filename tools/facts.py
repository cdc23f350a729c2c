"""A launch and what its kernel became, as the estimate wants them."""

from typing import NamedTuple

from egg.state.device import Device
from egg.tools.assembly.compiled import Compiled
from egg.tools.estimate import LaunchFacts
from egg.tools.instructions import altogether
from egg.tools.launched import Seen

TENSOR_MEMORY = 512
"""Columns that sm_100 has."""
THREADS = 1024
"""Of a block, everywhere."""


class Shortage(NamedTuple):
    """What a block needs more of than there is."""

    needed: int
    limit: int
    what: str


def shortage(kernel: Compiled, device: Device) -> Shortage | None:
    """As Triton checks before it loads a kernel; None if it can be launched."""
    checks = (
        Shortage(kernel.shared_bytes, device.shared_bytes, "shared memory"),
        Shortage(kernel.tensor_memory, TENSOR_MEMORY, "tensor memory"),
        Shortage(kernel.warps * device.warp, THREADS, "threads"),
    )
    return next((check for check in checks if check.needed > check.limit), None)


def facts_of(seen: Seen, kernel: Compiled) -> LaunchFacts:
    """Of one of the equal launches."""
    return LaunchFacts(
        kernel=seen.kernel,
        grid=seen.grid,
        warps=kernel.warps,
        stages=seen.stages,
        registers=kernel.registers,
        spills=kernel.spills,
        shared_bytes=kernel.shared_bytes,
        bytes=seen.bytes,
        tensor_core=kernel.tensor_core,
        load_bytes=seen.load_bytes,
        store_bytes=seen.store_bytes,
        dots=seen.dots,
        alu=seen.alu,
        step_bytes=seen.step_bytes,
        steps=seen.steps,
        guessed=seen.guessed,
        effort=altogether(kernel.effort, seen.loops) if kernel.effort else None,
        spread=kernel.spread,
    )
