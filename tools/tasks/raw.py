"""For child tasks: tensors as files of bare bytes, with their form told apart. Never pickle."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeGuard

import torch

from egg.tools.tasks.memory import tensors_of

Entry = dict[str, Any]
"""`place`; `kind`: tensor, number or none; and of a tensor `shape`, `dtype`, `stride`, `device`, `layout` (what keeps
its elements from lying in memory as they are: sparse, negated when it is read; or ""), `odd` (the name of its class or
its own attributes if it is not plain), `aliases` (numbers of the inputs in whose memory it lies), `overlaps` (places of
outputs before it that share elements with it) and `reused` (it lies where an earlier call's output still lies)."""
LEFT_OUT = "-"
"""File of an entry whose bytes were not written."""


def forms(value: Any, inputs: Any = (), earlier: Any = ()) -> list[tuple[Entry, torch.Tensor | None]]:
    """What an output consists of, leaf by leaf."""
    owners = [tensor.untyped_storage().data_ptr() for tensor in tensors_of(inputs)]
    taken = {tensor.untyped_storage().data_ptr() for tensor in tensors_of(earlier)} - set(owners)
    found: list[tuple[Entry, torch.Tensor | None]] = []
    for place, leaf in leaves(value):
        if leaf is None:
            found.append(({"place": place, "kind": "none"}, None))
            continue
        tensor = leaf if isinstance(leaf, torch.Tensor) else torch.tensor(leaf)
        odd = _odd(tensor)
        layout = "" if odd else _layout(tensor)
        sparse = tensor.layout is not torch.strided
        where = 0 if odd or sparse or not tensor.numel() else tensor.untyped_storage().data_ptr()
        entry: Entry = {
            "place": place,
            "kind": "tensor" if leaf is tensor else "number",
            "shape": list(tensor.shape),
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "stride": [] if odd or sparse else list(tensor.stride()),
            "device": tensor.device.type if leaf is tensor else "",
            "odd": odd,
            "layout": layout,
            "reused": where in taken,
            "aliases": [number for number, owner in enumerate(owners) if where and owner == where],
            "overlaps": [e["place"] for e, t in found if where and _plain(t, e) and _share(t, tensor)],
        }
        found.append((entry, tensor))
    return found


def dump(
    value: Any, folder: Path, prefix: str, inputs: Any = (), earlier: Any = (), *, data: bool = True
) -> list[Entry]:
    """Write every tensor of a nest; its entries, with the `file` of each."""
    entries: list[Entry] = []
    for entry, tensor in forms(value, inputs, earlier):
        name = LEFT_OUT
        if data and _plain(tensor, entry):
            name = f"{prefix}-{len(entries)}.raw"
            plain = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
            plain.view(torch.uint8).cpu().numpy().tofile(folder / name)
        entries.append({**entry, "file": name})
    return entries


def read(entry: Entry, folder: Path, device: str) -> torch.Tensor | None:
    """What `dump` wrote, on `device`; None if the file is not what the entry says. Entries are not to be trusted."""
    name = str(entry["file"])
    path = folder / name
    dtype = getattr(torch, str(entry["dtype"]), None)
    if not isinstance(dtype, torch.dtype) or not re.fullmatch(r"[a-z0-9-]+\.raw", name):
        return None
    shape = torch.Size(entry["shape"])
    size = shape.numel() * dtype.itemsize
    if path.is_symlink() or not path.is_file() or path.stat().st_size != size:
        return None
    if not size:
        return torch.empty(shape, dtype=dtype, device=device)
    data = torch.from_file(str(path), shared=False, size=size, dtype=torch.uint8)
    return data.to(device).view(dtype).reshape(shape)


def leaves(value: Any, place: str = "output") -> Iterator[tuple[str, Any]]:
    """Tensors, numbers and Nones of a nest of tuples, lists and dicts with where they stand."""
    if isinstance(value, torch.Tensor | bool | int | float) or value is None:
        yield place, value
    elif isinstance(value, tuple | list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{place}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{place}[{key!r}]")
    else:
        raise TypeError(f"{place} is a {type(value).__name__}, neither tensor nor number")


def _plain(tensor: torch.Tensor | None, entry: Entry) -> TypeGuard[torch.Tensor]:
    return tensor is not None and not entry["odd"] and tensor.layout is torch.strided


def _layout(tensor: torch.Tensor) -> str:
    """What keeps its elements from lying in memory as they are; "" if nothing does."""
    if tensor.layout is not torch.strided:
        return str(tensor.layout).removeprefix("torch.")
    return "negated when it is read" if tensor.is_neg() else "conjugated when it is read" if tensor.is_conj() else ""


def count(value: Any, most: int) -> int:
    """How many leaves a nest has, or `most` + 1 if there are more."""
    return sum(1 for _ in islice(leaves(value), most + 1))


def _odd(tensor: torch.Tensor) -> str:
    """What makes it more than a tensor: a class that may compute when it is looked at, or attributes that do."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return type(tensor).__name__
    own = sorted(vars(tensor))
    return f"tensor with attributes of its own ({', '.join(own)})" if own else ""


def _share(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors have an element in common. Interleaved views of one buffer have not."""
    if not one.numel() or one.untyped_storage().data_ptr() != other.untyped_storage().data_ptr():
        return False
    if one.dtype != other.dtype:
        return True
    marks = torch.zeros(one.untyped_storage().nbytes() // one.element_size(), dtype=torch.bool, device=one.device)
    views = [marks.as_strided(t.shape, t.stride(), t.storage_offset()) for t in (one, other)]
    views[0].fill_(True)
    return bool(views[1].any())
