"""Takes its strides from the tensors."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def tanh_add(x_ptr, y_ptr, out_ptr, rows, cols, x0, x1, y0, y1, o0, o1, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (col < cols)
    x = tl.load(x_ptr + row * x0 + col * x1, mask=inside, other=0.0)
    y = tl.load(y_ptr + row * y0 + col * y1, mask=inside, other=0.0)
    tl.store(out_ptr + row * o0 + col * o1, tanh(x) + y, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x, y):
        out = torch.empty_like(y)
        rows, cols = out.shape
        grid = (triton.cdiv(rows, 32), triton.cdiv(cols, 32))
        tanh_add[grid](x, y, out, rows, cols, *x.stride(), *y.stride(), *out.stride(), BLOCK=32)
        return out
