"""Three passes over a group by one program, in 4-dimensional memory."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def group_norm(x_ptr, weight_ptr, bias_ptr, out_ptr, size, pixels, each, groups, eps, BLOCK: tl.constexpr):
    base = tl.program_id(0) * size
    first = tl.program_id(0) % groups * each
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, size, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + base + at, mask=at < size, other=0.0)
    mean = tl.sum(total, axis=0) / size
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, size, BLOCK):
        at = start + tl.arange(0, BLOCK)
        off = tl.load(x_ptr + base + at, mask=at < size, other=0.0) - mean
        squares += tl.where(at < size, off * off, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / size + eps)
    for start in range(0, size, BLOCK):
        at = start + tl.arange(0, BLOCK)
        channel = first + at // pixels
        weight = tl.load(weight_ptr + channel, mask=at < size, other=0.0)
        bias = tl.load(bias_ptr + channel, mask=at < size, other=0.0)
        y = (tl.load(x_ptr + base + at, mask=at < size, other=0.0) - mean) * scale * weight + bias
        tl.store(out_ptr + base + at, y * tl.sigmoid(y), mask=at < size)


class ModelNew(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)

    def forward(self, x):
        batch, channels, height, width = x.shape
        norm, out = self.norm, torch.empty_like(x)
        each, pixels = channels // norm.num_groups, height * width
        grid = (batch * norm.num_groups,)
        sizes = (each * pixels, pixels, each, norm.num_groups)
        group_norm[grid](x, norm.weight, norm.bias, out, *sizes, norm.eps, BLOCK=512)
        return out
