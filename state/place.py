"""Where a kernel, or a whole forward pass, stands under the roofline."""

from typing import Literal

from pydantic import Field

from egg.state.record import Record

Ceiling = Literal["memory", "compute"]
BEYOND = 1.1
"""Share of the memory ceiling above which the second-level cache must have served bytes: it bounds nothing then."""


class Place(Record):
    """One point of the roofline, and how near it is to the ceiling above it."""

    kernel: str = Field("", description="Its name; empty for the whole forward pass")
    ms: float = Field(gt=0, allow_inf_nan=False, description="Of one call")
    measured: bool = Field(description="Whether `ms` was measured rather than predicted")
    bytes: float = Field(ge=0, allow_inf_nan=False, description="That have to cross device memory")
    flops: float = Field(ge=0, allow_inf_nan=False)
    precision: str = Field("fp32", description="Of most of the arithmetic's time")
    memory: float = Field(ge=0, allow_inf_nan=False, description="Time at the memory ceiling over `ms`")
    compute: float = Field(ge=0, allow_inf_nan=False, description="Time at the arithmetic ceiling over `ms`")
    ceilings: Literal["measured", "datasheet"]

    @property
    def ceiling(self) -> Ceiling:
        """The one above it."""
        return "memory" if self.memory >= self.compute and not self.served_by_cache else "compute"

    @property
    def share(self) -> float:
        """How near: 1 is at it. Above 1 where the second-level cache served bytes, or fewer had to be moved."""
        return max(self.memory, self.compute)

    @property
    def served_by_cache(self) -> bool:
        """Whether it is faster than device memory allows."""
        return self.memory > BEYOND

    @property
    def reached(self) -> float:
        """The share of the ceiling, at most 1; of a memory ceiling that bounds nothing, the arithmetic one's."""
        return min(1.0, self.compute if self.served_by_cache else self.share)

    @property
    def intensity(self) -> float | None:
        """FLOP a byte; None where nothing has to be moved."""
        return self.flops / self.bytes if self.bytes else None

    def told(self) -> str:
        """`at 92 % of the memory ceiling`."""
        name = self.ceiling if self.ceiling == "memory" else f"{self.precision} arithmetic"
        guess = "" if self.measured else ", by the estimate"
        if self.served_by_cache:
            return f"faster than device memory{guess}: served by the second-level cache"
        return f"at {100 * min(self.share, 9.99):.0f} % of the {name} ceiling{guess}"
