"""What holds a kernel back: a closed list, each with the figures that say so."""

from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from egg.state.record import Record
from egg.state.stage import Group

SIGNS = {"at least": "≥", "at most": "≤"}


class BottleneckKind(StrEnum):
    """Why a kernel takes the time that it takes."""

    AT_CEILING = "at_ceiling"
    """The hardware allows no more: stop."""
    LAUNCH_BOUND = "launch_bound"
    SPILLS = "spills"
    TOO_FEW_PROGRAMS = "too_few_programs"
    IMBALANCE = "imbalance"
    """Multiprocessors wait for the last programs: a part-filled last wave, or programs of unequal length."""
    OCCUPANCY = "occupancy"
    MEMORY_BANDWIDTH = "memory_bandwidth"
    L2 = "l2"
    L1 = "l1"
    """The first-level cache, or shared memory, which is a part of it."""
    TENSOR_PIPE_STARVED = "tensor_pipe_starved"
    COMPUTE = "compute"
    MEMORY_LATENCY = "memory_latency"


class Evidence(Record):
    """One figure and the threshold that it is beyond."""

    figure: str = Field(description="What was looked at: `device memory, share of its ceiling`")
    value: float = Field(allow_inf_nan=False)
    side: Literal["at least", "at most"] = Field(description="How the value stands to the threshold")
    threshold: float = Field(allow_inf_nan=False)
    unit: str = Field("", description="`%`, `bytes`, `ms`, ... of both numbers")
    source: Literal["counter", "time", "static"] = Field("static", description="Where the value comes from")

    @model_validator(mode="after")
    def _beyond(self) -> Self:
        if not (self.value >= self.threshold if self.side == "at least" else self.value <= self.threshold):
            raise ValueError(f"{self.figure}: {self.value} is not {self.side} {self.threshold}")
        return self

    def told(self) -> str:
        """`device memory, share of its ceiling 92 % (≥ 90 %)`."""
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.figure} {_plain(self.value)}{unit} ({SIGNS[self.side]} {_plain(self.threshold)}{unit})"


def _plain(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


class Bottleneck(Record):
    """One reason, of one kernel or of the whole forward pass, and the stage that can mend it."""

    kind: BottleneckKind
    kernel: str = Field("", description="Its name; empty for the whole forward pass")
    evidence: tuple[Evidence, ...] = Field(min_length=1)
    stage: Group | None = Field(description="Whose decisions can mend it; None: nothing is to be mended, or not by us")
    limiter: str = Field("", description="What bounds the occupancy, or which ceiling it is at")
    share: float = Field(ge=0, le=1, description="Of the forward pass's time that the kernel takes")

    def told(self) -> str:
        """One line for a person or a model."""
        what = self.kind.value.replace("_", " ") + (f" ({self.limiter})" if self.limiter else "")
        mend = f"; stage {self.stage}" if self.stage else ""
        return f"{self.kernel or 'forward'}: {what}: {', '.join(e.told() for e in self.evidence)}{mend}"
