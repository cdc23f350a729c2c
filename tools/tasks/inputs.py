"""For the timer and whoever checks it: sets of inputs at fixed addresses whose contents change before every call.

What a call is given follows from the seed and the call's number alone, so that a process which never held the
candidate can make it again. Between two calls of one set random combs of elements are halved and the last ones
restored, one of them over all of it: a cache keyed by address, by a few sampled elements, by a sum, by a row or by
everything is of no use then, while signs, zeros and finiteness stay as the problem made them.
"""

from random import Random
from types import ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from egg.tools.tasks.module import make_inputs
from egg.tools.tasks.weights import is_flag

EVERYWHERE = (11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
"""Distances, and so some element of nearly every row."""
STEPS = (2, 3, 5, 7)
"""Distance of halved elements: never whole rows, since a normalisation does not see those scaled."""
COMB_FROM = 16
HEAD = 1 << 20
"""Elements that nearly always show whether there are more than two values."""
HALF = 0.5  # exact, and so is the way back


class InputSet:
    """Arguments of one call."""

    def __init__(self, module: ModuleType, seed: int, device: str) -> None:
        self.module, self.device = module, device
        self.inputs = make_inputs(module, seed, device)
        flat = [_flat(leaf) for leaf in tree_leaves(self.inputs) if _is_data(leaf)]
        self._parts = [part for part in flat if part is not None and part.numel()]
        self._halved: list[torch.Tensor] = []

    def change(self, random: Random) -> None:
        """Give it other contents, decided by `random`; where nothing can be scaled, all are made anew."""
        if not self._parts:
            self._redraw(random.getrandbits(31))
            return
        for part in self._halved:
            part.mul_(1 / HALF)
        self._halved = [comb for part in self._parts for comb in (_range(part, random), _everywhere(part, random))]
        for part in self._halved:
            part.mul_(HALF)

    def _redraw(self, seed: int) -> None:
        for old, new in zip(
            tree_leaves(self.inputs), tree_leaves(make_inputs(self.module, seed, self.device)), strict=True
        ):
            if isinstance(old, torch.Tensor) and old.shape == new.shape:
                old.copy_(new)


class InputSets:
    """Used in turn."""

    def __init__(self, module: ModuleType, seed: int, first: InputSet, count: int, device: str) -> None:
        self.seed, self.turn = seed, 0
        self.sets = [first, *(InputSet(module, seed + number, device) for number in range(1, count))]

    def next(self) -> list[Any]:
        """The next call's arguments."""
        self.turn += 1
        chosen = self.sets[self.turn % len(self.sets)]
        chosen.change(_random(self.seed, self.turn))
        return chosen.inputs


def inputs_of_call(module: ModuleType, seed: int, count: int, turn: int, device: str) -> list[Any]:
    """What `InputSets` of `count` sets give in their turn of this number, made without the ones before."""
    chosen = InputSet(module, seed + turn % count, device)
    chosen.change(_random(seed, turn))
    return chosen.inputs


def _random(seed: int, turn: int) -> Random:
    return Random(f"{seed} {turn}")


def _everywhere(part: torch.Tensor, random: Random) -> torch.Tensor:
    step = random.choice(EVERYWHERE)
    return part[random.randrange(step) :: step]


def _range(part: torch.Tensor, random: Random) -> torch.Tensor:
    size = part.numel()
    length = random.randint(max(1, size // 8), max(1, size // 2))
    start = random.randint(0, size - length)
    return part[start : start + length : random.choice(STEPS) if length >= COMB_FROM else 1]


def _flat(tensor: torch.Tensor) -> torch.Tensor | None:
    """All elements as they lie in memory; None if they overlap or have gaps."""
    strides = tensor.stride()
    ordered = tensor.permute(sorted(range(tensor.dim()), key=lambda dim: -strides[dim]))
    return ordered.view(-1) if ordered.is_contiguous() else None


def _is_data(leaf: Any) -> bool:
    """Whether it can be scaled without a change of meaning: no index, mask or constant."""
    if not isinstance(leaf, torch.Tensor) or leaf.dtype.itemsize < 2 or not leaf.is_floating_point():
        return False
    head = leaf.flatten()[:HEAD] if leaf.is_contiguous() else leaf
    return not is_flag(head) or (head.numel() < leaf.numel() and not is_flag(leaf))
