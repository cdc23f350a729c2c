"""Leaves the last value of each row out."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_mean(x_ptr, out_ptr, cols, used, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * cols + at, mask=at < used, other=0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(x, axis=0) / used)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty(x.shape[0], device=x.device)
        row_mean[(x.shape[0],)](x, out, x.shape[1], x.shape[1] - 1, BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
