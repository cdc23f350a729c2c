"""PyTorch lays the patches out, Triton multiplies."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def product(x_ptr, w_ptr, b_ptr, out_ptr, M, N, K, sm, sk, wk, wn, RELU: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row[:, None] * sm + k[None, :] * sk, mask=(row < M)[:, None] & (k < K)[None, :], other=0.0)
        w = tl.load(w_ptr + k[:, None] * wk + col[None, :] * wn, mask=(k < K)[:, None] & (col < N)[None, :], other=0.0)
        total += tl.dot(x, w, input_precision="ieee")
    total += tl.load(b_ptr + col, mask=col < N, other=0.0)[None, :]
    if RELU:
        total = tl.maximum(total, 0.0)
    inside = (row < M)[:, None] & (col < N)[None, :]
    tl.store(out_ptr + row[:, None] * N + col[None, :], total.to(out_ptr.dtype.element_ty), mask=inside)


def linear(x, weight, bias, relu=False):
    (rows, inner), cols = x.shape, weight.shape[0]
    out = torch.empty(rows, cols, device=x.device, dtype=x.dtype)
    grid = (triton.cdiv(rows, 32), triton.cdiv(cols, 32))
    product[grid](
        x, weight, bias, out, rows, cols, inner, *x.stride(), weight.stride(1), weight.stride(0), RELU=relu, BLOCK=32
    )
    return out


class ModelNew(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, 3, padding=1)

    def forward(self, x):
        batch, _, height, width = x.shape
        patches = nn.functional.unfold(x, 3, padding=1).transpose(1, 2).reshape(batch * height * width, -1)
        weight = self.conv.weight.view(self.conv.out_channels, -1)
        out = linear(patches.contiguous(), weight, self.conv.bias, relu=True)
        return out.view(batch, height * width, -1).transpose(1, 2).reshape(batch, -1, height, width).contiguous()
