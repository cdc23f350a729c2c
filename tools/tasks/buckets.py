"""Errors pooled over parts of a tensor that are alike in size, so that small parts are not judged by large ones.

A row is a run of trailing dimensions. One row alone is one draw of a rounding error and says little, nor does one
element; pooled with those of like magnitude they have a mean that can be held against the reference's in the same pool.
"""

from typing import Literal, NamedTuple

import torch

ROW = 32
"""Fewest elements of a row."""
OCTAVES = 2
"""Width of a bucket: a factor of four."""
BUCKETS = 16
FEWEST = 32
"""Elements below which a bucket is pooled with the next larger one."""
CHUNK = 1 << 23
"""Elements compared at once: float64 copies of a whole tensor may not fit."""


class Pool(NamedTuple):
    """Sums over the elements of each bucket, largest magnitudes first; float64, on the CPU."""

    number: torch.Tensor
    exact: torch.Tensor
    """Squares of the exact values."""
    off: torch.Tensor
    """Squares of the candidate's errors."""
    own: torch.Tensor
    """Squares of the reference's errors, or of what rounding the inputs alone would cause, whichever is more."""

    def merged(self) -> "Pool":
        """Buckets with few elements joined to their larger neighbour, so that none rests on a few draws."""
        rows = torch.stack(self).clone()
        for index in range(rows.shape[1] - 1, 0, -1):
            if 0 < rows[0, index] < FEWEST:
                rows[:, index - 1] += rows[:, index]
                rows[:, index] = 0
        return Pool(*rows)


def row_length(shape: torch.Size) -> int:
    """Elements of the trailing dimensions that make a row."""
    length = 1
    for size in reversed(shape):
        if length >= ROW:
            break
        length *= size
    return max(length, 1)


def bucket(ratio: torch.Tensor) -> torch.Tensor:
    """Which bucket a magnitude relative to the largest belongs to; zero goes into the last."""
    octaves = -torch.log2(ratio.clamp(2.0 ** -(OCTAVES * BUCKETS), 1.0))
    return (octaves / OCTAVES).long().clamp(0, BUCKETS - 1)


def pooled(which: torch.Tensor, count: torch.Tensor, *squares: torch.Tensor) -> Pool:
    """Sum by bucket."""
    sums = (by_bucket(which, values.double(), "sum") for values in (count, *squares))
    return Pool(*(total.cpu() for total in sums))


def by_bucket(which: torch.Tensor, values: torch.Tensor, how: Literal["sum", "amax"]) -> torch.Tensor:
    """Sums or largest values (none is negative) of what belongs to each bucket."""
    found = torch.zeros(BUCKETS, dtype=torch.float64, device=which.device)
    if not which.is_cuda:
        return found.scatter_reduce(0, which, values, how)
    # Millions of atomic additions to sixteen places take a GPU longer than reading the values sixteen times.
    for index in range(BUCKETS):
        mine = torch.where(which == index, values, 0.0)
        found[index] = mine.sum() if how == "sum" else mine.amax()
    return found
