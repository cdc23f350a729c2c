"""float16 in memory, float32 in registers."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def layer_norm(x_ptr, weight_ptr, bias_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    place = tl.program_id(0) * cols + at
    x = tl.load(x_ptr + place, mask=at < cols, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / cols
    centred = tl.where(at < cols, x - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / cols + eps)
    weight = tl.load(weight_ptr + at, mask=at < cols, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + at, mask=at < cols, other=0.0).to(tl.float32)
    tl.store(out_ptr + place, (centred * scale * weight + bias).to(tl.float16), mask=at < cols)


class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.norm = nn.LayerNorm(cols, dtype=torch.float16)

    def forward(self, x):
        out = torch.empty_like(x)
        block = triton.next_power_of_2(x.shape[1])
        norm = self.norm
        layer_norm[(x.shape[0],)](x, norm.weight, norm.bias, out, x.shape[1], norm.eps, BLOCK=block)
        return out
