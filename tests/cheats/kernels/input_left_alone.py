"""The input is left as it was."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, sum_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    both = tl.load(x_ptr + at, mask=at < n) + tl.load(y_ptr + at, mask=at < n)
    tl.store(sum_ptr + at, both, mask=at < n)
    tl.store(out_ptr + at, tl.maximum(both, 0.0), mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x, y):
        out = torch.empty_like(x)
        add[(triton.cdiv(x.numel(), 128),)](x, y, torch.empty_like(x), out, x.numel(), BLOCK=128)
        return out
