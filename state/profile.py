"""Where the time of one forward pass goes, kernel by kernel."""

from typing import Literal

from pydantic import Field

from egg.state.bottleneck import Bottleneck
from egg.state.evaluation import Launch
from egg.state.place import Place
from egg.state.record import Record

Source = Literal["counters", "times", "estimate"]
HOW: dict[Source, str] = {
    "counters": "measured, with hardware counters",
    "times": "measured, without hardware counters",
    "estimate": "predicted, never measured",
}


class KernelProfile(Record):
    """One kernel on one grid in a forward pass."""

    kernel: str
    calls: int = Field(1, ge=1, description="In one forward pass")
    ms: float = Field(ge=0, allow_inf_nan=False, description="GPU time of all its calls of one pass")
    share: float = Field(ge=0, le=1, description="Of the forward pass's GPU time")
    measured: bool = Field(description="Whether `ms` was measured rather than predicted")
    own: bool = Field(description="Launched by the candidate, not by PyTorch or a library")
    launch: Launch | None = Field(None, description="What compiling for the target tells; None for a library's kernel")
    counters: dict[str, float] = Field(
        default_factory=dict, description="By the names of `egg.state.metrics`; what was not counted is missing"
    )
    place: Place | None = Field(None, description="Under the roofline, where its bytes or FLOPs are known")

    @property
    def call_ms(self) -> float:
        """GPU time of one call."""
        return self.ms / self.calls


class Profile(Record):
    """One forward pass: its kernels, longest first, and what holds them back."""

    target: str
    kernels: tuple[KernelProfile, ...]
    total_ms: float = Field(ge=0, allow_inf_nan=False, description="GPU time of all kernels of one pass")
    source: Source = Field(description="What the times rest on; an estimate is never a measurement")
    note: str = Field("", description="Why it is not the better source, in one line")
    bottlenecks: tuple[Bottleneck, ...] = Field((), description="The kernel that takes longest first")
    forward: Place | None = Field(None, description="Of the whole pass: what the problem needs at least")

    @property
    def how(self) -> str:
        """How its times came about, for a person or a model."""
        return HOW[self.source]

    @property
    def headroom(self) -> float | None:
        """Share of the time that would go if every kernel reached its ceiling; None of an estimate.

        A kernel that cannot be placed might vanish, for all that is known.
        """
        if self.source == "estimate":
            return None
        reached = (kernel.share * kernel.place.reached for kernel in self.kernels if kernel.place)
        return 1.0 - min(1.0, sum(reached))
