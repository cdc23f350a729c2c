"""One trusted kernel, so that what the interpreter loads late is loaded before the first fork."""

from typing import Any

import torch
import triton
import triton.language as tl

from egg.tools.tasks.interpreter import mend


@triton.jit  # type: ignore[untyped-decorator]
def _warmup(x_ptr: Any, y_ptr: Any, n: Any, BLOCK: tl.constexpr) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    total = tl.sum(tl.exp(x - tl.max(x, axis=0)), axis=0)
    square = tl.reshape(x, (16, BLOCK // 16))
    total += tl.sum(tl.sum(tl.dot(square, tl.trans(square)), axis=1), axis=0)
    tl.store(y_ptr + at, x * total, mask=at < n)


def interpret_one_kernel() -> None:
    """Run a kernel with a reduction and a matrix product."""
    mend()
    x = torch.linspace(0, 1, 200)
    y = torch.empty_like(x)
    _warmup[(1,)](x, y, x.numel(), BLOCK=256)
    torch.nn.functional.linear(torch.ones(4, 4), torch.ones(4, 4)).sum().item()
