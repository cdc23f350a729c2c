"""For the trusted child: float64 where a whole batch of it does not fit into memory."""

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from egg.tools.tasks.memory import tensors_of

SLICES = 16
ALIKE = 2e-4
"""RMS of the difference, over that of the output, below which a slice computed alone is that slice of the whole: TF32
may choose another method for another size, batch statistics differ by far more."""

Forward = Callable[[list[Any]], Any]


def by_slices(narrow: Forward, wide: Forward, inputs: list[Any], usual: Any) -> Any:
    """The output of `wide` put together from slices of the batch; None if the model cannot be cut so.

    Args:
        narrow: the model in its own type, to try whether slices of the batch are independent of each other.
        usual: what it gives for the whole batch.
    """
    leaves, form = tree_flatten(usual)
    batch = _batch(inputs)
    if batch < 2 or any(not isinstance(leaf, torch.Tensor) or leaf.shape[:1] != (batch,) for leaf in leaves):
        return None
    step = -(-batch // SLICES)
    spans = [(start, min(start + step, batch)) for start in range(0, batch, step)]
    for span in (spans[0], spans[-1]):
        alone = tree_flatten(narrow(cut(inputs, batch, span)))[0]
        if not all(_close(part, whole[span[0] : span[1]]) for part, whole in zip(alone, leaves, strict=True)):
            return None
    outputs = [torch.empty(leaf.shape, dtype=torch.float64, device=leaf.device) for leaf in leaves]
    for span in spans:
        for output, part in zip(outputs, tree_flatten(wide(cut(inputs, batch, span)))[0], strict=True):
            output[span[0] : span[1]] = part
    return tree_unflatten(outputs, form)


def cut(inputs: list[Any], batch: int, span: tuple[int, int]) -> Any:
    """The inputs for a part of the batch; what has no batch dimension stays whole."""

    def part(value: Any) -> Any:
        has_batch = isinstance(value, torch.Tensor) and value.shape[:1] == (batch,)
        return value[span[0] : span[1]].clone() if has_batch else value

    return tree_map(part, inputs)


def _batch(inputs: list[Any]) -> int:
    """Length of the largest input's first dimension."""
    tensors = [tensor for tensor in tensors_of(inputs) if tensor.dim()]
    return max(tensors, key=torch.numel).shape[0] if tensors else 0


def _close(part: torch.Tensor, whole: torch.Tensor) -> bool:
    if part.shape != whole.shape:
        return False
    if not part.is_floating_point():
        return torch.equal(part, whole)
    size = float(whole.float().norm()) or 1.0
    return float((part.float() - whole.float()).norm()) / size < ALIKE
