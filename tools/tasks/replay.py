"""For the candidate's child: what a forward pass gives when its Triton launches are left out, or fail.

Left out, they must be missed. Their buffers then hold plain finite numbers, so that adding zero times a buffer does
not count as using it. And while they are out, no operator of PyTorch may come by the answer: a kernel that copies it,
or writes it over itself, does no work.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from egg.tools.operators import ALLOCATE, computes
from egg.tools.tasks.launches import Launches

PLAIN = 0.0028573
"""What the buffers of launches that are left out hold."""

FEW = 4
"""Integers that may be equal by chance."""

Run = Callable[[AbstractContextManager[Any]], Any]


def replay(run: Run, honest: list[torch.Tensor], launches: Launches) -> dict[str, Any]:
    """`idle`: nothing is missed without the launches; `answered`: the operator of PyTorch that had the answer, or "";
    `hides`: failing launches do not make the forward pass fail.

    Args:
        run: runs the forward pass within a context; not on the inputs it ran on last, since a buffer that the
            candidate keeps would still hold their result.
        honest: the outputs for those inputs, as they were.
    """
    if not launches.count:
        return {"idle": True, "answered": "", "hides": False}
    hides = _hides(run, launches)
    shadow = Shadow(honest)
    launches.mode = "off"
    try:
        idle = alike(run(shadow), honest)
    except Exception:  # whatever it is, the launches were missed
        idle = False
    finally:
        launches.mode = "on"
    return {"idle": idle, "answered": shadow.answered(), "hides": hides}


def _hides(run: Run, launches: Launches) -> bool:
    before = launches.count
    launches.mode = "fail"
    try:
        run(nullcontext())
    except Exception:
        return False
    finally:
        launches.mode = "on"
    return launches.count > before


class Shadow(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Compares what every operator computes with the answer, and fills what is only allocated."""

    def __init__(self, honest: list[torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.honest = honest
        self.by: list[str] = [""] * len(honest)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else PyTorch loads its compiler first, for seconds, only to leave this alone

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        name = func._schema.name.split("::")[-1]
        if name in ALLOCATE:
            for leaf in tree_leaves(out):
                leaf.fill_(PLAIN if leaf.is_floating_point() else 1)
        elif computes(name) and not _is_view(func):
            for leaf in tree_leaves(out):
                if isinstance(leaf, torch.Tensor):
                    self._look(name, leaf)
        return out

    def answered(self) -> str:
        """The operators that had every output, or an empty string."""
        return ", ".join(dict.fromkeys(self.by)) if self.by and all(self.by) else ""

    def _look(self, name: str, found: torch.Tensor) -> None:
        for place, right in enumerate(self.honest):
            if right.numel() <= FEW and not right.is_floating_point():
                continue
            if not self.by[place] and found.numel() == right.numel() and _equal(found, right):
                self.by[place] = name


def _is_view(func: Any) -> bool:
    return any(r.alias_info and not r.alias_info.is_write for r in func._schema.returns)


def alike(value: Any, copies: list[torch.Tensor]) -> bool:
    """Whether the tensors of a nest have the shapes, types and values of these; zeros of both signs are the same."""
    tensors = [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]
    return len(tensors) == len(copies) and all(
        one.shape == other.shape and one.dtype == other.dtype and _equal(one, other)
        for one, other in zip(tensors, copies, strict=True)
    )


def _equal(found: torch.Tensor, right: torch.Tensor) -> bool:
    if found.shape != right.shape:
        found, right = found.reshape(-1), right.reshape(-1)
    if found.device != right.device:
        return False
    found = found.to(right.dtype)
    return bool(((found == right) | (found.isnan() & right.isnan())).all())
