"""int8 weights in buffers, scaled after the product."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def product(x_ptr, w_ptr, scale_ptr, out_ptr, M, N, K, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row[:, None] * K + k[None, :], mask=(row < M)[:, None] & (k < K)[None, :], other=0.0)
        w = tl.load(w_ptr + col[None, :] * K + k[:, None], mask=(k < K)[:, None] & (col < N)[None, :], other=0)
        total += tl.dot(x, w.to(tl.float32), input_precision="ieee")
    total *= tl.load(scale_ptr + col, mask=col < N, other=0.0)[None, :]
    tl.store(out_ptr + row[:, None] * N + col[None, :], total, mask=(row < M)[:, None] & (col < N)[None, :])


class ModelNew(nn.Module):
    def __init__(self, inner, cols):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (cols, inner), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(cols) * 0.01)

    def forward(self, x):
        (rows, inner), cols = x.shape, self.weight.shape[0]
        out = torch.empty(rows, cols, device=x.device)
        grid = (triton.cdiv(rows, 32), triton.cdiv(cols, 32))
        product[grid](x, self.weight, self.scale, out, rows, cols, inner, BLOCK=32)
        return out
