"""A machine search over a kernel's numbers: the space, what became of each point, and what was chosen."""

from collections.abc import Mapping
from enum import StrEnum
from math import prod

from pydantic import Field

from egg.state.record import Record
from egg.state.stage import Group

Value = bool | int | str
Values = dict[str, Value]
"""A value for each parameter."""

POINTS_MEASURED, POINTS_ESTIMATED = 48, 12
"""Points of a search where a GPU times them, and where only the estimate can tell them apart."""
CONTENDERS = 3
"""Points that the judge may see, one after the other, until one passes."""


class Parameter(Record):
    """One number (or name) of a kernel that may be chosen freely; the kernel stays right whatever is chosen."""

    name: str = Field(
        min_length=1,
        description="`region.group.parameter` of an expert kernel, else a module-level constant (`BLOCK`), an entry of "
        "a module-level dict (`META.BLOCK`), or `kernel.config`: which of its `@triton.autotune` configurations",
    )
    values: tuple[Value, ...] = Field(min_length=1)
    group: Group = Field("tiling", description="The stage that may choose it")


class SearchSpace(Record):
    """Every combination of the parameters' values is a point."""

    parameters: tuple[Parameter, ...] = ()

    @property
    def size(self) -> int:
        """Number of points; 1 with nothing to choose."""
        return prod(len(parameter.values) for parameter in self.parameters)

    def within(self, group: Group | None) -> "SearchSpace":
        """What one stage may choose; all of it for None."""
        kept = tuple(p for p in self.parameters if group is None or p.group == group)
        return SearchSpace(parameters=tuple(p for p in kept if len(p.values) > 1))


class SearchLimits(Record):
    """When a search ends, at the latest."""

    points: int | None = Field(
        None,
        ge=1,
        description=f"Points compiled; by default {POINTS_MEASURED} with a GPU and {POINTS_ESTIMATED} without",
    )
    seconds: float = Field(60.0, gt=0, description="Wall time, without what was found finished")

    def most(self, measured: bool) -> int:
        """The cap on points."""
        return self.points or (POINTS_MEASURED if measured else POINTS_ESTIMATED)


class PointStatus(StrEnum):
    """How far a point came."""

    SAME = "same"
    """It gives the very kernel that an earlier point gave."""
    FAILED = "failed"
    PRUNED = "pruned"
    COMPILED = "compiled"
    """Ranked by its estimate; never timed."""
    TIMED = "timed"


class Point(Record):
    """One choice and its outcome."""

    values: Values
    status: PointStatus
    why: str = Field("", description="Why it failed or was pruned, or which kernel it equals")
    kernel: str | None = Field(None, description="Id of the kernel it gives")
    registers: int | None = Field(None, description="Per thread; of the launch with most")
    spills: int | None = Field(None, description="Bytes a thread; of the launch with most")
    shared_bytes: int | None = Field(None, description="Per block; of the launch with most")
    occupancy: float | None = Field(None, description="Of the longest launch")
    estimate_ms: float | None = Field(None, description="Predicted, never measured")
    median_ms: float | None = Field(None, description="Timed briefly, beside the others; no claim rests on it")
    rounds: int = Field(0, description="Rounds of timing it took part in")

    @property
    def alive(self) -> bool:
        """Whether it may still be chosen."""
        return self.status in (PointStatus.COMPILED, PointStatus.TIMED)


class SearchResult(Record):
    """A search, with every point's outcome. `points[0]` is the kernel as it was."""

    space: SearchSpace
    target: str
    measured: bool = Field(description="Whether points were timed; else the estimate ranks them")
    limits: SearchLimits
    points: tuple[Point, ...]
    ranking: tuple[int, ...] = Field(description="Points better than the kernel as it was, best first")
    seconds: float = Field(description="Wall time of this life of the search")
    ended: str = Field(description="`all points`, or the cap that ended it")

    @property
    def best(self) -> Point:
        """The choice; the kernel as it was if nothing is better."""
        return self.points[self.ranking[0] if self.ranking else 0]

    def count(self, status: PointStatus) -> int:
        """Points of this status."""
        return sum(point.status is status for point in self.points)

    def gain(self, point: Point) -> float:
        """Fraction of the time that a point saves over the kernel as it was, by the figure that ranks."""
        first = self.points[0]
        before, after = (first.median_ms, point.median_ms) if self.measured else (first.estimate_ms, point.estimate_ms)
        return 1 - after / before if before and after else 0.0

    def told(self) -> str:
        """One sentence for a person or an agent. The seconds it took are left out: they differ from life to life."""
        names = ", ".join(parameter.name for parameter in self.space.parameters)
        counts = ", ".join(f"{self.count(status)} {status}" for status in PointStatus if self.count(status))
        caps = f"{self.limits.most(self.measured)} points and {self.limits.seconds:g} s"
        how = "timed briefly" if self.measured else f"ranked by the estimate for {self.target}, nothing was timed"
        if self.ranking:
            gain = self.gain(self.best)
            worth = f"saves {gain:.1%}" if gain >= 0 else f"costs {-gain:.1%} and needs no autotuning"
            best = f"best {spelled(self.changes(self.best))}, which {worth}"
        else:
            best = "none is better"
        return (
            f"machine search over {names}: {len(self.points)} of {self.space.size} points ({counts}; caps {caps}, "
            f"ended by {self.ended}), {how}; {best}"
        )

    def changes(self, point: Point) -> Values:
        """What a point changes of the kernel as it was."""
        first = self.points[0].values
        return {name: value for name, value in point.values.items() if first.get(name) != value}


def spelled(values: Mapping[str, Value]) -> str:
    """`BLOCK = 1024, num_warps = 8`; an expert kernel's names without region and group."""
    return ", ".join(f"{name.rpartition('.')[2]} = {value}" for name, value in values.items()) or "nothing changed"


class Contender(Record):
    """A point that the judge may see."""

    values: Values
    change: str = Field(description="What it changes of the kernel in force, in words")


class Searched(Record):
    """What a stage keeps of its search: the sentence, and the choices that the judge has not seen yet."""

    told: str
    seconds: float = 0.0
    contenders: tuple[Contender, ...] = Field(
        (), description="Best first; each is judged only if those before it failed"
    )
