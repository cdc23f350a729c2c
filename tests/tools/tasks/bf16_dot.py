"""Child task for tests: one product of bfloat16 matrices in the interpreter."""

from typing import Any

import torch
import triton
import triton.language as tl

from egg.tools.tasks.interpreter import mend


@triton.jit
def product(a_ptr, b_ptr, out_ptr, SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    tl.store(out_ptr + at, tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at).T))


def multiply(payload: dict[str, Any]) -> dict[str, Any]:
    """`error`: largest difference from PyTorch's own product."""
    mend()
    mend()
    torch.manual_seed(0)
    a, b = (torch.randn(16, 16).bfloat16() for _ in range(2))
    out = torch.empty(16, 16)
    product[(1,)](a, b, out, SIZE=16)
    return {"error": float((out - a.float() @ b.float().T).abs().max())}
