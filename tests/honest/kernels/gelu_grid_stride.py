"""A grid of fixed size whose programs go on in strides."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

PROGRAMS = 16


@triton.jit
def gelu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n, other=0.0)
        tl.store(out_ptr + at, 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476)), mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        gelu[(PROGRAMS,)](x, out, x.numel(), BLOCK=512)
        return out
