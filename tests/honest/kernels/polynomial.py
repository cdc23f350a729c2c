"""A table of constants, unrolled."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

FACTORS = tl.constexpr((0.5, -0.25, 0.125, 1.0, -2.0, 0.75, 0.1))


@triton.jit
def polynomial(x_ptr, out_ptr, n, TERMS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    total = tl.zeros((BLOCK,), tl.float32)
    for term in tl.static_range(TERMS):
        total = total * x + FACTORS[term]
    tl.store(out_ptr + at, total, mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        polynomial[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), TERMS=7, BLOCK=512)
        return out
