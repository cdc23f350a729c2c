"""For child tasks: a model's parameters and buffers changed after construction, the same on both sides.

A kernel that folds, casts or packs weights in `__init__` computes with the old ones; whoever trains or loads weights
afterwards gets wrong results without a word.
"""

from hashlib import sha256
from typing import Literal

import torch

State = Literal["own", "moved", "moved parameters", "integers"]
"""As constructed; all floating-point state moved a little; parameters alone; parameters small integers."""
LARGEST_INTEGER = 2


class Weights:
    """A model's state, and the way back to how it was constructed."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.model = model
        self.state: State = "own"
        self._buffers = {name: buffer.detach().clone() for name, buffer in model.named_buffers()}
        self._kept: dict[str, torch.Tensor] = {}

    def put(self, state: State, seed: int) -> None:
        """Write a state into the parameters and buffers in place, after undoing the last one and the call's updates."""
        with torch.no_grad():
            for name, buffer in self.model.named_buffers():
                if name in self._buffers and buffer.shape == self._buffers[name].shape:
                    buffer.copy_(self._buffers[name])
            for name, parameter in self.model.named_parameters():
                if name in self._kept:
                    parameter.copy_(self._kept[name])
            if state != "own":
                self._change(state, seed)
        self.state = state

    def updated(self) -> dict[str, torch.Tensor]:
        """Buffers that are part of the state and differ from how `put` left them; none but under `own`."""
        if self.state != "own":  # moved buffers differ anyway
            return {}
        stored = self.model.state_dict()
        return {
            name: buffer
            for name, buffer in self.model.named_buffers()
            if name in stored and name in self._buffers and not _same(buffer, self._buffers[name])
        }

    def _change(self, state: State, seed: int) -> None:
        if not self._kept:
            self._kept = {name: parameter.detach().clone() for name, parameter in self.model.named_parameters()}
        for name, parameter in self.model.named_parameters():
            if parameter.is_floating_point():
                parameter.copy_(_drawn(name, parameter, state, seed))
        if state == "moved":
            for name, buffer in self.model.named_buffers():
                if buffer.is_floating_point() and not is_flag(buffer):
                    buffer.copy_(_drawn(name, buffer, state, seed))


def _drawn(name: str, old: torch.Tensor, state: State, seed: int) -> torch.Tensor:
    # A seed of its own for each name: the order in which a class creates its parameters must not matter here.
    own = int.from_bytes(sha256(f"{seed} {name}".encode()).digest()[:7], "little")
    generator = torch.Generator(old.device).manual_seed(own)
    if state == "integers":
        drawn = torch.randint(-LARGEST_INTEGER, LARGEST_INTEGER + 1, old.shape, generator=generator, device=old.device)
        return drawn.to(old.dtype)
    first, second = (torch.rand(old.shape, generator=generator, device=old.device) for _ in range(2))
    typical = float(old.double().square().mean().sqrt()) if old.numel() else 0.0
    # Only larger and only upwards, so that variances stay positive.
    return (old * (1 + 0.5 * first) + 0.2 * (typical or 1.0) * second).to(old.dtype)


def is_flag(value: torch.Tensor) -> bool:
    """Whether it holds at most two values: a mask or a constant, whose meaning other values would break."""
    if value.numel() < 2:
        return False
    low, high = value.amin(), value.amax()
    return bool(((value == low) | (value == high)).all())


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and bool(((one == other) | ((one != one) & (other != other))).all())
