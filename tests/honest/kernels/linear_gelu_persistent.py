"""As many programs as there are multiprocessors, each with many tiles."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

PROGRAMS = 24


@triton.jit
def product(x_ptr, w_ptr, b_ptr, out_ptr, M, N, K, BLOCK: tl.constexpr):
    tiles_n = tl.cdiv(N, BLOCK)
    for tile in range(tl.program_id(0), tl.cdiv(M, BLOCK) * tiles_n, tl.num_programs(0)):
        row = tile // tiles_n * BLOCK + tl.arange(0, BLOCK)
        col = tile % tiles_n * BLOCK + tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK, BLOCK), tl.float32)
        for start in range(0, K, BLOCK):
            k = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row[:, None] * K + k[None, :], mask=(row < M)[:, None] & (k < K)[None, :], other=0.0)
            w = tl.load(w_ptr + col[None, :] * K + k[:, None], mask=(k < K)[:, None] & (col < N)[None, :], other=0.0)
            total += tl.dot(x, w, input_precision="ieee")
        total += tl.load(b_ptr + col, mask=col < N, other=0.0)[None, :]
        total = 0.5 * total * (1.0 + tl.erf(total * 0.7071067811865476))
        tl.store(out_ptr + row[:, None] * N + col[None, :], total, mask=(row < M)[:, None] & (col < N)[None, :])


class ModelNew(nn.Module):
    def __init__(self, inner, cols):
        super().__init__()
        self.linear = nn.Linear(inner, cols)

    def forward(self, x):
        (rows, inner), cols = x.shape, self.linear.weight.shape[0]
        out = torch.empty((rows, cols), device=x.device, dtype=x.dtype)
        product[(PROGRAMS,)](x, self.linear.weight, self.linear.bias, out, rows, cols, inner, BLOCK=32)
        return out
