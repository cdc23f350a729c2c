"""How many bytes of memory a launch can touch at all."""

from collections.abc import Iterable, Iterator
from typing import Any

import torch


def tensors_in(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    """Tensors among arguments: bare, in tuples, or under a TMA descriptor."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from tensors_in(value)
        elif isinstance(base := getattr(value, "base", None), torch.Tensor):
            yield base


def spanned_bytes(tensors: Iterable[torch.Tensor]) -> int:
    """Bytes of the elements the tensors address; views of one storage together count it once at most."""
    by_storage: dict[int, tuple[int, int]] = {}
    for tensor in tensors:
        storage = tensor.untyped_storage()
        reach = 1 + sum((size - 1) * abs(step) for size, step in zip(tensor.shape, tensor.stride(), strict=True))
        own = min(tensor.numel(), reach) * tensor.element_size()
        _, before = by_storage.get(storage._cdata, (0, 0))
        by_storage[storage._cdata] = storage.nbytes(), before + own
    return sum(min(whole, own) for whole, own in by_storage.values())
