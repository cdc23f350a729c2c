"""A bool input, and an int64 result beside a float one."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def where(mask_ptr, x_ptr, y_ptr, out_ptr, count_ptr, cols, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    place = tl.program_id(0) * cols + at
    mask = tl.load(mask_ptr + place, mask=at < cols, other=0).to(tl.int1)
    x = tl.load(x_ptr + place, mask=at < cols, other=0.0)
    y = tl.load(y_ptr + place, mask=at < cols, other=0.0)
    tl.store(out_ptr + place, tl.where(mask, x, y), mask=at < cols)
    tl.store(count_ptr + tl.program_id(0), tl.sum(mask.to(tl.int64), axis=0))


class ModelNew(nn.Module):
    def forward(self, mask, x, y):
        out = torch.empty_like(x)
        count = torch.empty(x.shape[0], device=x.device, dtype=torch.int64)
        block = triton.next_power_of_2(x.shape[1])
        where[(x.shape[0],)](mask, x, y, out, count, x.shape[1], BLOCK=block)
        return out, count
