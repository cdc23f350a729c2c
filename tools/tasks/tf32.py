"""TF32 where there is no tensor core: a CPU ignores the switches, and would make the reference better than it is."""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

PRODUCTS = {
    torch.ops.aten.mm.default,
    torch.ops.aten.addmm.default,
    torch.ops.aten.bmm.default,
    torch.ops.aten.baddbmm.default,
    torch.ops.aten.convolution.default,
}
ADDED_FIRST = {torch.ops.aten.addmm.default, torch.ops.aten.baddbmm.default}
DROPPED_BITS = 13
"""TF32 keeps 10 of the 23 bits of a float32's mantissa."""


class RoundProducts(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Rounds both factors of every float32 matrix product and convolution, as tensor cores see them."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in PRODUCTS:
            first = 1 if func in ADDED_FIRST else 0
            args = (*args[:first], *map(rounded, args[first : first + 2]), *args[first + 2 :])
        return func(*args, **(kwargs or {}))


def rounded(tensor: torch.Tensor) -> torch.Tensor:
    """Float32 values rounded to the nearest TF32 value; other types as they are."""
    if tensor.dtype is not torch.float32:
        return tensor
    bits = tensor.contiguous().view(torch.int32) + (1 << (DROPPED_BITS - 1))
    return (bits & -(1 << DROPPED_BITS)).view(torch.float32).reshape(tensor.shape)
