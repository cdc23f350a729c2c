"""How far from exact a candidate's output may be: a multiple of the reference's own error, or its type's floor.

Looked at in five ways: over the whole tensor; in rows of like size; in elements of like size beside their row; each
element by itself; and the mean error with its sign, which rounding to nearest keeps near zero and a tensor core's
truncating accumulator does not.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from egg.tools.tasks.buckets import BUCKETS, CHUNK, Pool, bucket, by_bucket, pooled, row_length

TIMES = 4.0
"""Times the reference's own error."""
FLOOR = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4.9e-4, torch.bfloat16: 3.9e-3}
"""Below this an error is the type's rounding: float32 leaves room for sums in another order, not for TF32 (2e-4)."""
FEW, FEW_TIMES = 32, 10.0
"""An output of so few elements has no mean to speak of: its error is one draw."""
FEW_ROWS, FEW_ROWS_TIMES = 4, 4.0
"""In so few rows what all elements of a row share (the rounding of their mean) is as few draws."""
MOST = 0.25
"""A reference further from exact than this is random or chaotic, and no licence to be so too."""
ELEMENT_TIMES = 8.0
"""Times the worst element of the reference, so that a few wrong ones among millions show."""
ABSOLUTE = 0.25
"""Share of the floor that an error may have beside its row, however small the element: exp(x) - 1 and tanh by way of
exp are right to one rounding of 1, not of x."""
BIAS, BIAS_COUNT = 3e-6, 1024
"""Mean signed error of float32 over as many elements: 1.1e-6 with the accumulator promoted every 256 products on an
H200, 3.1e-5 with all 4096 of them in the accumulator."""


@dataclass(frozen=True)
class Errors:
    """One output of one case. Errors are RMS of the difference over RMS of the oracle."""

    error: float
    reference: float
    budget: float
    bad: torch.Tensor
    """Mask of elements that are wrong by themselves."""
    judged: float
    """Share of elements whose exact value is finite."""
    excess: str = ""
    """In words, which part of the output is beyond its budget though the whole is not."""

    @property
    def within(self) -> bool:
        return self.error <= self.budget and not self.excess and not bool(self.bad.any())

    def inexact(self, wrong: torch.Tensor, why: str) -> "Errors":
        """The same where nothing but the exact value will do."""
        return replace(self, budget=0.0, bad=wrong, excess=why)


@dataclass
class Part:
    """Some whole rows as float64, what must not be compared as numbers set to zero."""

    found: torch.Tensor
    usual: torch.Tensor
    exact: torch.Tensor
    moved: torch.Tensor
    finite: torch.Tensor
    bad: torch.Tensor

    @property
    def off(self) -> torch.Tensor:
        return (self.found - self.exact).abs()

    @property
    def own(self) -> torch.Tensor:
        return torch.maximum((self.usual - self.exact).abs(), (self.moved - self.exact).abs())


def judge_values(
    candidate: torch.Tensor,
    reference: torch.Tensor,
    oracle: torch.Tensor,
    moved: torch.Tensor | None = None,
    *,
    strict: bool = False,
) -> Errors:
    """Compare tensors of one shape. `candidate` and `reference` have one type, `oracle` a wider or the same.

    Args:
        moved: exact values for inputs rounded otherwise. What they differ by from `oracle` no method can avoid, and a
            reference that happens to be luckier than that is no measure.
        strict: whether a small row has a right to its own relative accuracy, as in problems that scale with their
            inputs.
    """
    if not candidate.is_floating_point():
        bad = (candidate != reference) & (candidate != oracle)
        share = float(bad.float().mean()) if bad.numel() else 0.0
        return Errors(share, 0.0, 0.0, bad, 1.0)
    floor = FLOOR.get(reference.dtype, 0.05) * (FEW_TIMES if oracle.numel() < FEW else 1.0)
    tensors = (candidate, reference, oracle, oracle if moved is None else moved)
    length = row_length(oracle.shape)
    rows = _Rows(length)
    for part in _parts(tensors, length):
        rows.add(part)
    if not oracle.numel():
        return Errors(0.0, 0.0, floor, torch.zeros(oracle.shape, dtype=torch.bool), 1.0)
    whole, off, fair, own = rows.total()
    scale = whole or 1.0
    error = off / scale
    times = TIMES * (FEW_ROWS_TIMES if oracle.numel() < FEW_ROWS * length else 1.0)
    budget = min(max(times * fair / scale, floor), MOST)
    slack = 0.0 if strict else ABSOLUTE * floor * scale
    local, worst, by_row = rows.scales(0.0 if strict else scale)
    elements = Pool(*torch.zeros(4, BUCKETS, dtype=torch.float64))
    masks, start = [], 0
    for part in _parts(tensors, length):
        rows_here = slice(start, start + part.exact.shape[0])
        start = rows_here.stop
        size = local[rows_here, None]
        masks.append(
            part.bad | (part.off > ELEMENT_TIMES * (worst[rows_here, None] + floor * (part.exact.abs() + size)))
        )
        elements = Pool(*(old + new for old, new in zip(elements, _by_element(part, size), strict=True)))
    excess = ""
    if error <= budget:
        excess = _excess("rows", by_row.merged(), times, floor, slack)
        excess = excess or _excess("elements", elements.merged(), times, floor, ABSOLUTE * floor)
        if reference.dtype is torch.float32:
            excess = excess or rows.biased(times * fair / scale)
    return Errors(error, own / scale, budget, torch.cat(masks).reshape(oracle.shape), rows.judged(), excess)


def _parts(tensors: tuple[torch.Tensor, ...], length: int) -> Iterator[Part]:
    """Rows of the candidate's, the reference's, the exact and the moved values, a chunk at a time."""
    matrices = [tensor.reshape(-1, length) for tensor in tensors]
    step = max(1, CHUNK // length)
    for start in range(0, matrices[0].shape[0], step):
        found, usual, exact, moved = (matrix[start : start + step].double() for matrix in matrices)
        finite = exact.isfinite() & usual.isfinite()
        # Where the reference and exact arithmetic agree on infinity or NaN, so must the candidate; else it is free.
        agreed = ~exact.isfinite() & _alike(exact, usual)
        bad = (finite & ~found.isfinite()) | (agreed & ~_alike(found, exact))
        found = torch.where(finite & ~bad, found, 0.0)
        moved = torch.where(moved.isfinite(), moved, exact)
        usual, exact, moved = (torch.where(finite, values, 0.0) for values in (usual, exact, moved))
        yield Part(torch.where(bad, exact, found), usual, exact, moved, finite, bad)


class _Rows:
    """Sums over each row."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.sums: list[torch.Tensor] = []
        self.signed = torch.zeros(3, dtype=torch.float64)

    def add(self, part: Part) -> None:
        own, finite = part.own, part.finite.sum(1)
        squares = [values.square().sum(1) for values in (part.exact, part.off, own, part.usual - part.exact)]
        self.sums.append(torch.stack([finite.double(), *squares, own.amax(1)]))
        sign = part.exact.sign()
        signed = [((values - part.exact) * sign).sum() for values in (part.found, part.usual)]
        self.signed += torch.stack([*signed, part.exact.abs().sum()]).cpu()

    def total(self) -> list[float]:
        """RMS of the exact values, of the candidate's errors, of those allowed for, and of the reference's."""
        count, *squares = torch.cat(self.sums, 1)[:5].sum(1).tolist()
        return [(total / max(count, 1.0)) ** 0.5 for total in squares]

    def judged(self) -> float:
        counts = torch.cat(self.sums, 1)[0]
        return float(counts.sum() / (counts.numel() * self.length))

    def scales(self, least: float) -> tuple[torch.Tensor, torch.Tensor, Pool]:
        """Of each row its size (or `least`) and the worst own error in rows of that size; and the pools of those."""
        count, exact, off, own, _, worst = torch.cat(self.sums, 1)
        size = (exact / count.clamp_min(1)).sqrt()
        largest = size.max().clamp_min(1e-300)
        which = bucket(size / largest)
        most = by_bucket(which, worst, "amax")
        return size.clamp_min(least), most[which], pooled(which, count, exact, off, own)

    def biased(self, budget: float) -> str:
        found, usual, size = self.signed.tolist()
        if not size or float(torch.cat(self.sums, 1)[0].sum()) < BIAS_COUNT:
            return ""
        allowed = max(BIAS, TIMES * abs(usual) / size, budget)
        if abs(found) / size <= allowed:
            return ""
        way = "towards zero" if found < 0 else "away from zero"
        return (
            f"all errors go one way: the mean one is {abs(found) / size:.1e} {way}, beyond {allowed:.1e} "
            "(a long sum kept in the tensor core's accumulator, which truncates?)"
        )


def _by_element(part: Part, size: torch.Tensor) -> Pool:
    """Pools of elements by their size beside their row's, in units of the row's."""
    unit = torch.where(size > 0, size, 1.0)
    exact, off, own = (values / unit for values in (part.exact, part.off, part.own))
    which = bucket(exact.abs()).reshape(-1)
    return pooled(which, *(v.reshape(-1) for v in (part.finite, exact.square(), off.square(), own.square())))


def _excess(what: str, pool: Pool, times: float, floor: float, slack: float) -> str:
    """The first bucket beyond its budget, in words."""
    count = pool.number.clamp_min(1)
    exact, off, own = ((values / count).sqrt() for values in (pool.exact, pool.off, pool.own))
    allowed = torch.maximum(torch.maximum(times * own, floor * exact), torch.full_like(own, slack))
    over = (pool.number > 0) & (off > allowed)
    if not bool(over.any()):
        return ""
    at = int(over.nonzero()[0])
    own_error, error = float(own[at] / exact[at].clamp_min(1e-300)), float(off[at] / exact[at].clamp_min(1e-300))
    beside = "largest" if what == "rows" else "others of their row"
    return (
        f"small {what} lose accuracy: {int(pool.number[at])} elements in {what} about {4.0**-at:.1e} times as large as "
        f"the {beside} have error {error:.1e}, the reference {own_error:.1e}"
    )


def _alike(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return (one == other) | (one.isnan() & other.isnan())
