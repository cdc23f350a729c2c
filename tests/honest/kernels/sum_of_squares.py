"""Two passes: partial sums, then one program that adds them; the result is a scalar."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def partial(x_ptr, sums_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(sums_ptr + tl.program_id(0), tl.sum(x * x, axis=0))


@triton.jit
def total(sums_ptr, out_ptr, count, n, BLOCK: tl.constexpr):
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, count, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(sums_ptr + at, mask=at < count, other=0.0)
    tl.store(out_ptr, tl.sum(sums, axis=0) / n)


class ModelNew(nn.Module):
    def forward(self, x):
        count = triton.cdiv(x.numel(), 1024)
        sums, out = torch.empty(count, device=x.device), torch.empty((), device=x.device)
        partial[(count,)](x, sums, x.numel(), BLOCK=1024)
        total[(1,)](sums, out, count, x.numel(), BLOCK=256)
        return out
