"""An associative scan with a function of its own, block after block."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def running_sum(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    base, before = tl.program_id(0) * cols, 0.0
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + at, mask=at < cols, other=0.0)
        sums = tl.associative_scan(x, 0, add) + before
        tl.store(out_ptr + base + at, sums, mask=at < cols)
        before += tl.sum(x, axis=0)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        running_sum[(x.shape[0],)](x, out, x.shape[1], BLOCK=128)
        return out
