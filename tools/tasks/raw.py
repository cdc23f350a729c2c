"""For child tasks: tensors as files of bare bytes, with their shape and type told apart. Never pickle."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch


def dump(value: Any, folder: Path, prefix: str) -> list[dict[str, Any]]:
    """Write every tensor of a nest; one entry each: `place`, `shape`, `dtype`, `file`, and `odd` for a subclass."""
    entries: list[dict[str, Any]] = []
    for place, tensor in leaves(value):
        odd = type(tensor).__name__ if type(tensor) not in (torch.Tensor, torch.nn.Parameter) else ""
        name = f"{prefix}-{len(entries)}.raw"
        plain = tensor.detach().contiguous().reshape(-1)
        plain.view(torch.uint8).cpu().numpy().tofile(folder / name)
        shape, dtype = list(tensor.shape), str(tensor.dtype).removeprefix("torch.")
        entries.append({"place": place, "shape": shape, "dtype": dtype, "file": name, "odd": odd})
    return entries


def read(entry: dict[str, Any], folder: Path, device: str) -> torch.Tensor | None:
    """What `dump` wrote, on `device`; None if the file is not what the entry says. Entries are not to be trusted."""
    name = str(entry["file"])
    path = folder / name
    dtype = getattr(torch, str(entry["dtype"]))
    shape = torch.Size(entry["shape"])
    size = shape.numel() * dtype.itemsize
    if not re.fullmatch(r"[a-z0-9-]+\.raw", name) or path.is_symlink() or not path.is_file():
        return None
    if path.stat().st_size != size:
        return None
    if not size:
        return torch.empty(shape, dtype=dtype, device=device)
    data = torch.from_file(str(path), shared=False, size=size, dtype=torch.uint8)
    return data.to(device).view(dtype).reshape(shape)


def leaves(value: Any, place: str = "output") -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors of a nest of tuples, lists and dicts with where they stand; numbers count as tensors."""
    if isinstance(value, torch.Tensor):
        yield place, value
    elif isinstance(value, tuple | list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{place}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{place}[{key!r}]")
    elif isinstance(value, bool | int | float):
        yield place, torch.tensor(value)
    elif value is not None:
        raise TypeError(f"{place} is a {type(value).__name__}, neither tensor nor number")
