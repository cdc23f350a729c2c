"""Asks for more shared memory than a multiprocessor has."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def product(x_ptr, w_ptr, b_ptr, out_ptr, M, N, K, sk, sn, ACT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row[:, None] * K + k[None, :], mask=(row < M)[:, None] & (k < K)[None, :], other=0.0)
        w = tl.load(w_ptr + k[:, None] * sk + col[None, :] * sn, mask=(k < K)[:, None] & (col < N)[None, :], other=0.0)
        total += tl.dot(x, w, input_precision="tf32")
    if ACT:
        total = tl.maximum(total + tl.load(b_ptr + col, mask=col < N, other=0.0)[None, :], 0.0)
    tl.store(out_ptr + row[:, None] * N + col[None, :], total, mask=(row < M)[:, None] & (col < N)[None, :])


def compute(a, b):
    (rows, inner), cols = a.shape, b.shape[1]
    out = torch.empty(rows, cols, device=a.device, dtype=a.dtype)
    grid = (triton.cdiv(rows, 32), triton.cdiv(cols, 32))
    product[grid](a, b, b, out, rows, cols, inner, cols, 1, ACT=False, BLOCK=32)
    return out


class ModelNew(nn.Module):
    def forward(self, a, b):
        (rows, inner), cols = a.shape, b.shape[1]
        out = torch.empty(rows, cols, device=a.device)
        grid = (triton.cdiv(rows, 128), triton.cdiv(cols, 128))
        product[grid](a, b, b, out, rows, cols, inner, cols, 1, ACT=False, BLOCK=128, num_stages=6, num_warps=8)
        return out
