"""Returns a view of its input, as the reference does."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu(x_ptr, out_ptr, rows, cols, x0, x1, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x0 + at * x1, mask=at < cols, other=0.0)
    tl.store(out_ptr + row * cols + at, tl.maximum(x, 0.0), mask=at < cols)


class ModelNew(nn.Module):
    def forward(self, x):
        part = x[:, ::2]
        rows, cols = part.shape
        out = torch.empty(rows, cols, device=x.device)
        relu[(rows, triton.cdiv(cols, 128))](part, out, rows, cols, *part.stride(), BLOCK=128)
        return part, out
