"""One row, shown as many: writing to one element would change them all."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def column_mean(x_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    col = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(0, rows):
        total += tl.load(x_ptr + row * cols + col, mask=col < cols, other=0.0)
    tl.store(out_ptr + col, total / rows, mask=col < cols)


def compute(x):
    out = torch.empty(1, x.shape[1], device=x.device)
    column_mean[(triton.cdiv(x.shape[1], 128),)](x, out, x.shape[0], x.shape[1], BLOCK=128)
    return out


class ModelNew(nn.Module):
    def forward(self, x):
        return compute(x).expand_as(x)
