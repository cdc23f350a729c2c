"""What a row kernel computes, as data: loads, pointwise steps, statistics of a row, results.

The iteration space is a list of axes, each kept or reduced. A *row* is one position of the kept axes; its *columns*
are the positions of the reduced ones. A value is *full* if it differs between the columns of a row.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal


@dataclass(frozen=True)
class Axis:
    """One axis of the iteration space; `size` is a Python expression that the host function can evaluate."""

    size: str
    reduced: bool


@dataclass(frozen=True)
class Operand:
    """A tensor that is read, contiguous over the listed axes (ascending) and broadcast over the others."""

    name: str
    axes: tuple[int, ...]
    dtype: str = "float32"
    register: str = "float32"
    """Type that it is computed with."""


@dataclass(frozen=True)
class Point:
    """Pointwise statements that define `name` from the values it `needs`."""

    name: str
    needs: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Statistic:
    """A reduction of `of` (an expression of the values it `needs`) over the columns.

    `moments` gives the mean and the sum of squared deviations, `softmax` the maximum and the sum of
    exp(x - maximum), `argmax`/`argmin` the extremum and its first column: each in one reading of the row.
    """

    kind: Literal["sum", "max", "min", "moments", "softmax", "argmax", "argmin"]
    of: str
    needs: tuple[str, ...]
    names: tuple[str, ...]


Step = Point | Statistic


@dataclass(frozen=True)
class Result:
    """A value that is stored, to a tensor contiguous over the listed axes."""

    tensor: str
    value: str
    axes: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """One region.

    `compensated` keeps what rounding takes from long fp32 sums. `precise` puts their slots together in float64: with
    few results, whose terms may cancel, an error like PyTorch's own would be a matter of luck.
    """

    name: str
    axes: tuple[Axis, ...]
    operands: tuple[Operand, ...]
    steps: tuple[Step, ...]
    results: tuple[Result, ...]
    compensated: bool = True
    precise: bool = False
    accumulator: str = "tl.float32"
    scalars: tuple[str, ...] = ()
    """Numbers that the kernels are passed besides the sizes."""

    @cached_property
    def full(self) -> frozenset[str]:
        """Names of the values that differ between columns."""
        names = {o.name for o in self.operands if any(self.axes[a].reduced for a in o.axes)}
        for step in self.steps:
            if isinstance(step, Point) and names & set(step.needs):
                names.add(step.name)
        return frozenset(names)

    @cached_property
    def level(self) -> dict[str, int]:
        """How many statistics must be known, one after the other, before a value is."""
        levels = {operand.name: 0 for operand in self.operands}
        for step in self.steps:
            depth = max((levels[name] for name in step.needs), default=0)
            if isinstance(step, Point):
                levels[step.name] = depth
            else:
                levels |= dict.fromkeys(step.names, depth + 1)
        return levels

    @property
    def depth(self) -> int:
        """How often a row that is not kept in registers is read before its results can be written."""
        return max((self.level[s.names[0]] for s in self.statistics), default=0)

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        return tuple(step for step in self.steps if isinstance(step, Statistic))

    @property
    def full_results(self) -> tuple[Result, ...]:
        """Results with a value for each column."""
        return tuple(r for r in self.results if any(self.axes[a].reduced for a in r.axes))

    @property
    def row_results(self) -> tuple[Result, ...]:
        """Results with one value for each row."""
        return tuple(r for r in self.results if r not in self.full_results)

    def needed(self, names: set[str]) -> set[str]:
        """The full values from which `names` are computed, themselves included."""
        wanted = set(names) & self.full
        for step in reversed(self.steps):
            if isinstance(step, Point) and step.name in wanted:
                wanted |= set(step.needs) & self.full
        return wanted
