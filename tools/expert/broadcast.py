"""How tensors of different shapes meet in one flat index: axes that always go together become one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from egg.tools.expert.region import Value


@dataclass(frozen=True)
class Axes:
    """Groups of neighbouring dimensions of the result, outermost first, and which of them each tensor has."""

    groups: tuple[tuple[int, ...], ...]
    present: dict[str, tuple[bool, ...]]
    """By tensor name: for each group, whether the tensor runs along it or is repeated."""


def group_axes(result: Value, tensors: Sequence[Value], strided: Collection[str] = ()) -> Axes | None:
    """The fewest groups; None where a tensor does not broadcast to the result in the same way at both sizes.

    Dimensions of tensors named in `strided` stay apart, so that each can have a stride of its own.
    """
    patterns = {tensor.name: _runs_along(result, tensor) for tensor in tensors}
    if any(pattern is None for pattern in patterns.values()):
        return None
    rank = len(result.shape)
    real = {name: pattern for name, pattern in patterns.items() if pattern is not None}
    columns = [tuple(pattern[dim] for pattern in real.values()) for dim in range(rank)]
    apart = {dim for name in strided for dim in range(rank) if real[name][dim]}
    groups: list[list[int]] = []
    for dim in range(rank):
        last = groups[-1][-1] if groups else None
        if last is not None and columns[last] == columns[dim] and not {last, dim} & apart:
            groups[-1].append(dim)
        else:
            groups.append([dim])
    present = {name: tuple(pattern[group[-1]] for group in groups) for name, pattern in real.items()}
    return Axes(tuple(tuple(group) for group in groups), present)


def _runs_along(result: Value, tensor: Value) -> tuple[bool, ...] | None:
    """For each dimension of the result, whether the tensor has it."""
    missing = len(result.shape) - len(tensor.shape)
    if missing < 0:
        return None
    runs: list[bool] = [False] * missing
    for dim, (full, small) in enumerate(zip(tensor.shape, tensor.small_shape, strict=True), start=missing):
        same = (full, small) == (result.shape[dim], result.small_shape[dim])
        repeated = full == 1 and small == 1
        if not (same or repeated):
            return None
        runs.append(same)
    return tuple(runs)


def flat_index(present: tuple[bool, ...], coordinates: Sequence[str], sizes: Sequence[str]) -> str:
    """A tensor's own offset from the coordinates along the groups; `0` for a single number."""
    text = ""
    for here, coordinate, size in zip(present, coordinates, sizes, strict=True):
        if here:
            text = f"({text}) * {size} + {coordinate}" if text else coordinate
    return text or "0"
