"""What a stage or a node of the run takes: its wall time, and the time in which it holds the GPU."""

from contextlib import AbstractContextManager

from egg.state.usage import Usage, Work
from egg.tools.gpu_time import booked, take_ms


def on_gpu(run_dir: str, stage: str) -> AbstractContextManager[None]:
    """GPU time in here is this stage's."""
    return booked((run_dir, stage))


def work(run_dir: str, stage: str, wall_ms: int = 0) -> Usage:
    """For the run's usage: this wall time, and the GPU time since this was last asked."""
    return Usage(by_stage={stage: Work(wall_ms=max(0, wall_ms), gpu_ms=take_ms((run_dir, stage)))})
