"""Partial products added by atomics: the order, and so the last digit, differs from run to run."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def partial(x_ptr, w_ptr, out_ptr, M, N, K, SPLIT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(tl.program_id(2) * BLOCK, K, SPLIT * BLOCK):
        k = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row[:, None] * K + k[None, :], mask=(row < M)[:, None] & (k < K)[None, :], other=0.0)
        w = tl.load(w_ptr + col[None, :] * K + k[:, None], mask=(k < K)[:, None] & (col < N)[None, :], other=0.0)
        total += tl.dot(x, w, input_precision="ieee")
    tl.atomic_add(out_ptr + row[:, None] * N + col[None, :], total, mask=(row < M)[:, None] & (col < N)[None, :])


@triton.jit
def bias_gelu(out_ptr, bias_ptr, n, cols, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(out_ptr + at, mask=at < n, other=0.0) + tl.load(bias_ptr + at % cols, mask=at < n, other=0.0)
    tl.store(out_ptr + at, 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476)), mask=at < n)


class ModelNew(nn.Module):
    def __init__(self, inner, cols):
        super().__init__()
        self.linear = nn.Linear(inner, cols)

    def forward(self, x):
        (rows, inner), cols = x.shape, self.linear.out_features
        out = torch.zeros(rows, cols, device=x.device)
        grid = (triton.cdiv(rows, 32), triton.cdiv(cols, 32), 4)
        partial[grid](x, self.linear.weight, out, rows, cols, inner, SPLIT=4, BLOCK=32)
        bias_gelu[(triton.cdiv(out.numel(), 1024),)](out, self.linear.bias, out.numel(), cols, BLOCK=1024)
        return out
