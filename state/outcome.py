"""How a run ended."""

from pydantic import Field

from egg.state.evaluation import Speedup
from egg.state.record import Record


class Outcome(Record):
    """The run's claim. `proven_faster` needs a measured interval; an estimate never becomes a speedup."""

    kernel: str | None = Field(description="Id of the kernel delivered; None if it is the reference itself")
    correct: bool
    measured: bool = Field(description="Whether a GPU was there to measure")
    proven_faster: bool
    speedups: tuple[Speedup, ...] = ()
    claim: str = Field(description="One sentence for a person")
    torch_regions: tuple[str, ...] = Field((), description="What stays a PyTorch call")
    ended: str = Field("finished", description="`finished`, or the cap that ended the run")
    files: dict[str, str] = Field(default_factory=dict, description="Artefacts by name")
