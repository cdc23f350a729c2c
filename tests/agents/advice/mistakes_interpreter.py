"""Mistakes that compile for a GPU and that Triton's interpreter refuses, each beside its mending."""

from typing import Any

import torch
import triton
import triton.language as tl

from tests.agents.advice.mistakes_run import error


@triton.jit
def copied(x, y, rows, columns, BLOCK: tl.constexpr, FORM: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    if FORM == "scalar":
        ok = (row < rows) & (at < columns)
    elif FORM == "bound":
        ok = at < tl.where(row < rows, columns, 0)
    else:
        ok = (row + tl.zeros_like(at) < rows) & (at < columns)
    tl.store(y + row * columns + at, tl.load(x + row * columns + at, mask=ok, other=0.0), mask=ok)


def copy(form: str) -> float:
    """The error of three rows copied by four programs."""
    x, y = torch.arange(40.0).reshape(4, 10) + 1, torch.zeros(4, 10)
    copied[(4,)](x, y, 3, 10, BLOCK=16, FORM=form)
    return error((y, x * (torch.arange(4) < 3)[:, None]))


def tell() -> dict[str, Any]:
    """Of each topic: what the interpreter says of the mistake, and the largest error of its mendings."""
    said = ""
    try:
        copy("scalar")
    except Exception as refused:
        said = str(refused)
    return {"boolean-of-scalars": [said, max(copy("bound"), copy("blocks"))]}
