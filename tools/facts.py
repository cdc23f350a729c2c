"""A launch and what its kernel became, as the estimate wants them."""

from egg.tools.assembly.compiled import Compiled
from egg.tools.estimate import LaunchFacts
from egg.tools.instructions import altogether
from egg.tools.launched import Seen


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
        effort=altogether(kernel.effort, seen.loops) if kernel.effort else None,
        spread=kernel.spread,
    )
