"""Several launches, one after the other, with buffers between them."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def squares(x_ptr, sums_ptr, cols, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + tl.program_id(0) * cols + at, mask=at < cols, other=0.0)
        total += x * x
    tl.store(sums_ptr + tl.program_id(0), tl.sum(total, axis=0))


@triton.jit
def roots(sums_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(sums_ptr + at, tl.sqrt(tl.load(sums_ptr + at, mask=at < n, other=1.0)), mask=at < n)


@triton.jit
def divide(x_ptr, norm_ptr, weight_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    place = tl.program_id(0) * cols + at
    x = tl.load(x_ptr + place, mask=at < cols, other=0.0)
    weight = tl.load(weight_ptr + at, mask=at < cols, other=0.0)
    tl.store(out_ptr + place, x / tl.load(norm_ptr + tl.program_id(0)) * weight, mask=at < cols)


class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(cols))

    def forward(self, x):
        rows, cols = x.shape
        norm, out = torch.empty(rows, device=x.device), torch.empty_like(x)
        squares[(rows,)](x, norm, cols, BLOCK=256)
        roots[(triton.cdiv(rows, 128),)](norm, rows, BLOCK=128)  # in place, on a buffer of its own
        divide[(rows, triton.cdiv(cols, 256))](x, norm, self.weight, out, cols, BLOCK=256)
        return out
