"""Changes the input that the reference changes too."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def step(x_ptr, state_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(state_ptr + at, mask=at < n, other=0.0) + tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(state_ptr + at, total, mask=at < n)
    tl.store(out_ptr + at, total * 2.0, mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x, state):
        out = torch.empty_like(x)
        step[(triton.cdiv(x.numel(), 1024),)](x, state, out, x.numel(), BLOCK=1024)
        return out
