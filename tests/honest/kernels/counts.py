"""Integer atomics: any order gives the same."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

BINS = 10


@triton.jit
def count(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    tl.atomic_add(out_ptr + x, tl.full((BLOCK,), 1, tl.int32), mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        counts = torch.zeros(BINS, device=x.device, dtype=torch.int32)
        count[(triton.cdiv(x.numel(), 1024),)](x, counts, x.numel(), BLOCK=1024)
        return counts.to(torch.int64)
