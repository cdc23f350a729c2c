"""Child tasks for tests: a product of bfloat16 matrices, and an autotuned kernel, in the interpreter."""

from typing import Any

import torch
import triton
import triton.language as tl

from egg.tools.tasks.interpreter import mend


@triton.jit
def product(a_ptr, b_ptr, out_ptr, SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    tl.store(out_ptr + at, tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at).T))


@triton.autotune(configs=[triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64})], key=["n"])
@triton.jit
def doubled(x_ptr, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


def tune(payload: dict[str, Any]) -> dict[str, Any]:
    """`sum` of a hundred ones, doubled once, and the block that the tuner chose."""
    mend()
    blocks: list[int] = []

    def grid(meta: dict[str, int]) -> tuple[int]:
        blocks.append(meta["BLOCK"])
        return (triton.cdiv(100, meta["BLOCK"]),)

    x = torch.ones(100)
    doubled[grid](x, 100)
    return {"sum": float(x.sum()), "blocks": blocks}


def multiply(payload: dict[str, Any]) -> dict[str, Any]:
    """`error`: largest difference from PyTorch's own product."""
    mend()
    mend()
    torch.manual_seed(0)
    a, b = (torch.randn(16, 16).bfloat16() for _ in range(2))
    out = torch.empty(16, 16)
    product[(1,)](a, b, out, SIZE=16)
    return {"error": float((out - a.float() @ b.float().T).abs().max())}
