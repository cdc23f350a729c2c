"""What the judge says of a candidate."""

from typing import Self

from pydantic import Field, model_validator

from egg.state.conditions import Conditions
from egg.state.fault import Fault, HeldOut
from egg.state.isolation import Isolation
from egg.state.launch import Launch as Launch
from egg.state.launch import StaticProfile as StaticProfile
from egg.state.ownership import Ownership
from egg.state.record import Record
from egg.state.status import Status as Status
from egg.state.stock import StockVerdict


class Timing(Record):
    """Measured time of one forward pass: cold L2, inputs rotated. Milliseconds."""

    median_ms: float = Field(gt=0)
    p20_ms: float = Field(gt=0)
    p80_ms: float = Field(gt=0)
    samples: int = Field(gt=0)


WORTHWHILE = 1.02
"""A smaller gain is never called faster."""


class Speedup(Record):
    """Ratio of two medians measured interleaved, with a bootstrap 95 % interval. Above 1: the candidate is faster."""

    baseline: str = Field(description="`eager`, `compile` or `compile_max`")
    ratio: float
    low: float
    high: float

    @property
    def proven(self) -> bool:
        """Whether it is faster by an amount that matters, and the whole interval lies above 1.

        The amount keeps the claim from the one time in forty in which the interval of equals lies above 1 by chance.
        """
        return self.low > 1.0 and self.ratio >= WORTHWHILE


class Accuracy(Record):
    """Error against a float64 oracle, beside the reference's own error."""

    case: str = Field(description="`normal`, `uniform`, ... and the seed's number")
    error: float = Field(description="RMS of the difference over RMS of the oracle")
    reference_error: float = Field(description="The same for the reference under the policy")
    budget: float
    oracle: str = Field("float64", description="What exact values come from: float64, float64 in slices, float32, ...")

    @property
    def used(self) -> float:
        """Share of the budget that the error takes; of a budget of nothing, either none or more than all."""
        if self.budget:
            return self.error / self.budget
        return float("inf") if self.error else 0.0


class Evaluation(Record):
    """One verdict. Numbers exist only where the status allows them."""

    status: Status
    feedback: str = Field("", description="For the debug agent: what is wrong, where and how much")
    mode: str = Field(description="`gpu`, or `interpreter` where no GPU was there to run it")
    accuracy: tuple[Accuracy, ...] = ()
    timing: Timing | None = None
    speedups: tuple[Speedup, ...] = ()
    profile: StaticProfile | None = None
    conditions: Conditions | None = Field(None, description="Of the measurement")
    isolation: Isolation | None = Field(None, description="How well its child was kept apart; None: it was not run")
    ownership: Ownership | None = Field(None, description="Whose code does the work")
    stock: StockVerdict | None = Field(None, description="What KernelBench's own protocol would say")
    faults: tuple[Fault, ...] = Field((), description="What `feedback` says, typed; for every failing status")
    held_out: tuple[HeldOut, ...] = Field((), description="Sizes and layouts that the problem does not ask for")
    deterministic: bool | None = Field(None, description="Whether repeats agreed bit for bit; None: not repeated")

    @model_validator(mode="after")
    def _numbers_need_a_pass(self) -> Self:
        if self.status is not Status.OK and (self.timing or self.speedups or self.conditions):
            raise ValueError(f"a candidate that is {self.status} has no timing")
        return self

    @property
    def ok(self) -> bool:
        return self.status is Status.OK

    @property
    def rank_ms(self) -> float:
        """What candidates are ordered by: measured time where there is one, else the estimate, else infinity."""
        if not self.ok:
            return float("inf")
        if self.timing:
            return self.timing.median_ms
        return self.profile.estimate_ms if self.profile else float("inf")


class Baseline(Record):
    """The reference's own time under the policy, and what the hardware allows."""

    eager: Timing | None = Field(None, description="None where nothing was measured")
    compiled: Timing | None = Field(None, description="torch.compile, default mode")
    roofline_ms: float = Field(description="Fewest bytes over bandwidth, or FLOPs over peak, whichever is longer")
    bound: str = Field(description="memory or compute")
    note: str = Field("", description="Why something was not measured")
