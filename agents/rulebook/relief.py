"""Which bottleneck a move relieves."""

from egg.state.bottleneck import Bottleneck, BottleneckKind
from egg.tools.expert.spec import Move

RELIEVED_BY = {
    BottleneckKind.LAUNCH_BOUND: "launch",
    BottleneckKind.SPILLS: "spills",
    BottleneckKind.TOO_FEW_PROGRAMS: "occupancy",
    BottleneckKind.IMBALANCE: "occupancy",
    BottleneckKind.OCCUPANCY: "occupancy",
    BottleneckKind.MEMORY_BANDWIDTH: "memory",
    BottleneckKind.L2: "memory",
    BottleneckKind.L1: "compute",
    BottleneckKind.TENSOR_PIPE_STARVED: "compute",
    BottleneckKind.COMPUTE: "compute",
    BottleneckKind.MEMORY_LATENCY: "latency",
}
"""The expert's word for what its moves are good against."""


def relief(move: Move, bottlenecks: list[Bottleneck]) -> float:
    """The expected gain, up to twice as much for a move against what holds its kernel back."""
    reason = addressed(move, bottlenecks)
    return move.expected_gain * (1.0 + (reason.share if reason else 0.0))


def addressed(move: Move, bottlenecks: list[Bottleneck]) -> Bottleneck | None:
    """The first bottleneck of the move's own kernels, or of the whole pass, that it is good against."""
    for bottleneck in bottlenecks:
        own = not bottleneck.kernel or any(bottleneck.kernel.startswith(f"{region}_") for region in move.edits)
        if own and RELIEVED_BY.get(bottleneck.kind) == move.bottleneck:
            return bottleneck
    return None
