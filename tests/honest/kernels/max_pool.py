"""Each output from four inputs; odd edges are left out."""

import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def pool(x_ptr, out_ptr, n, height, width, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    half_h, half_w = height // 2, width // 2
    plane, row, col = at // (half_h * half_w), at // half_w % half_h, at % half_w
    base = x_ptr + plane * height * width + 2 * row * width + 2 * col
    inside = at < n
    top = tl.maximum(tl.load(base, mask=inside, other=0.0), tl.load(base + 1, mask=inside, other=0.0))
    low = tl.maximum(tl.load(base + width, mask=inside, other=0.0), tl.load(base + width + 1, mask=inside, other=0.0))
    tl.store(out_ptr + at, tl.maximum(top, low), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        batch, channels, height, width = x.shape
        out = x.new_empty(batch, channels, height // 2, width // 2)
        pool[(triton.cdiv(out.numel(), 256),)](x, out, out.numel(), height, width, BLOCK=256)
        return out
