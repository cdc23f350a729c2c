"""A constant of the module that the kernel sees as constexpr."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

EPS = tl.constexpr(1e-6)


@triton.jit
def rms_norm(x_ptr, weight_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    place = tl.program_id(0) * cols + at
    x = tl.load(x_ptr + place, mask=at < cols, other=0.0)
    scale = 1.0 / tl.sqrt(tl.sum(x * x, axis=0) / cols + EPS)
    weight = tl.load(weight_ptr + at, mask=at < cols, other=0.0)
    tl.store(out_ptr + place, x * scale * weight, mask=at < cols)


class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(cols) + 0.5)

    def forward(self, x):
        out = torch.empty_like(x)
        rms_norm[(x.shape[0],)](x, self.weight, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
