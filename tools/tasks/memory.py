"""For child tasks: what tensors hold, as a few numbers, and what lies in memory that is about to be allocated."""

from typing import Any

import torch
from torch.utils._pytree import tree_leaves

CHUNK = 1 << 24
POISON_BYTES = 4 << 30
NAN_BYTE, LARGE_BYTE = 0xFF, 0x4B
"""NaN in every floating-point type; and a large finite number in each: 1.3e7 in float32."""
ODD = 0x9E3779B97F4A7C15 - (1 << 64)
"""2^64 over the golden ratio, as a signed number: spreads small differences over all bits."""


def tensors_of(value: Any) -> list[torch.Tensor]:
    """The tensors of a nest, in order."""
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def digests(value: Any) -> list[tuple[Any, ...]]:
    """One a tensor: equal if the bits are. A copy would take as much memory as the tensor."""
    return [digest(tensor) for tensor in tensors_of(value)]


def digest(tensor: torch.Tensor) -> tuple[Any, ...]:
    """Shape, type, and a sum over the bits in which places count (Dietzfelbinger's multiply-shift, 64 bits)."""
    if tensor.layout is not torch.strided:
        return tuple(tensor.shape), str(tensor.dtype), str(tensor.layout)
    flat = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)
    flat = flat.view(torch.int64) if flat.numel() % 8 == 0 and flat.data_ptr() % 8 == 0 else flat
    total = torch.zeros((), dtype=torch.int64, device=tensor.device)
    for start in range(0, flat.numel(), CHUNK):
        part = flat[start : start + CHUNK].to(torch.int64)
        place = torch.arange(start, start + part.numel(), device=tensor.device) * 2 + 1
        mixed = (part ^ (part >> 31)) * ODD + place
        total += ((mixed ^ (mixed >> 29)) * (place * ODD | 1)).sum()
    return tuple(tensor.shape), str(tensor.dtype), int(total)


def poison(sizes: list[int], device: str, byte: int = NAN_BYTE) -> None:
    """Leave `byte` in memory that the next allocations of these sizes are likely to get."""
    blocks = [
        torch.full((size,), byte, dtype=torch.uint8, device=device)
        for size in sizes
        if size <= POISON_BYTES
        for _ in range(2)
    ]
    del blocks
