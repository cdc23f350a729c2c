"""Writes the two halves of one output through views of it."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sigmoid_or_copy(x_ptr, out_ptr, cols, x0, o0, SIGMOID: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * x0 + at, mask=at < cols, other=0.0)
    if SIGMOID:
        x = tl.sigmoid(x)
    tl.store(out_ptr + tl.program_id(0) * o0 + at, x, mask=at < cols)


class ModelNew(nn.Module):
    def forward(self, x):
        left, right = x.chunk(2, dim=1)
        out = torch.empty_like(x)
        first, second = out[:, : right.shape[1]], out[:, right.shape[1] :]
        for source, target, sigmoid in ((right, first, True), (left, second, False)):
            rows, cols = source.shape
            grid = (rows, triton.cdiv(cols, 256))
            sigmoid_or_copy[grid](source, target, cols, source.stride(0), out.stride(0), SIGMOID=sigmoid, BLOCK=256)
        return out
