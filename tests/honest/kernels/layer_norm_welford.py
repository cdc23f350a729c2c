"""Mean and variance in one pass, each lane on its own, merged at the end."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def layer_norm(x_ptr, weight_ptr, bias_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    base = tl.program_id(0) * cols
    mean = tl.zeros((BLOCK,), tl.float32)
    m2 = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + at, mask=at < cols, other=0.0)
        count = tl.where(at < cols, count + 1.0, count)
        delta = tl.where(at < cols, x - mean, 0.0)
        mean += delta / tl.maximum(count, 1.0)
        m2 += delta * tl.where(at < cols, x - mean, 0.0)
    mean_all = tl.sum(mean * count, axis=0) / cols
    m2_all = tl.sum(m2 + count * (mean - mean_all) * (mean - mean_all), axis=0)
    scale = 1.0 / tl.sqrt(m2_all / cols + eps)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + at, mask=at < cols, other=0.0)
        weight = tl.load(weight_ptr + at, mask=at < cols, other=0.0)
        bias = tl.load(bias_ptr + at, mask=at < cols, other=0.0)
        tl.store(out_ptr + base + at, (x - mean_all) * scale * weight + bias, mask=at < cols)


class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.norm = nn.LayerNorm(cols)

    def forward(self, x):
        out = torch.empty_like(x)
        norm = self.norm
        layer_norm[(x.shape[0],)](x, norm.weight, norm.bias, out, x.shape[1], norm.eps, BLOCK=64)
        return out
