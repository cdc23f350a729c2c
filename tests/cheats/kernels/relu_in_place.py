"""Writes over its input and returns it."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, tl.maximum(x, 0.0), mask=at < n)


def compute(x):
    out = torch.empty_like(x)
    relu[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out


class ModelNew(nn.Module):
    def forward(self, x):
        relu[(triton.cdiv(x.numel(), 1024),)](x, x, x.numel(), BLOCK=1024)
        return x
