"""A product over patches that are never written out."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def conv(x_ptr, w_ptr, b_ptr, out_ptr, filters, channels, height, width, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    f = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    pixels = height * width
    image, row, col = at // pixels, at % pixels // width, at % width
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, channels * 9, BLOCK):
        k = start + tl.arange(0, BLOCK)
        y = row[:, None] + (k % 9 // 3)[None, :] - 1
        x = col[:, None] + (k % 3)[None, :] - 1
        inside = (at < n)[:, None] & (k < channels * 9)[None, :] & (y >= 0) & (y < height) & (x >= 0) & (x < width)
        place = (image[:, None] * channels + (k // 9)[None, :]) * pixels + y * width + x
        patch = tl.load(x_ptr + place, mask=inside, other=0.0)
        in_w = (k < channels * 9)[:, None] & (f < filters)[None, :]
        w = tl.load(w_ptr + f[None, :] * channels * 9 + k[:, None], mask=in_w, other=0.0)
        total += tl.dot(patch, w, input_precision="ieee")
    total = tl.maximum(total + tl.load(b_ptr + f, mask=f < filters, other=0.0)[None, :], 0.0)
    place = (image[:, None] * filters + f[None, :]) * pixels + (at % pixels)[:, None]
    tl.store(out_ptr + place, total, mask=(at < n)[:, None] & (f < filters)[None, :])


class ModelNew(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, 3, padding=1)

    def forward(self, x):
        batch, channels, height, width = x.shape
        filters, n = self.conv.out_channels, batch * height * width
        out = torch.empty(batch, filters, height, width, device=x.device)
        grid = (triton.cdiv(n, 32), triton.cdiv(filters, 32))
        conv[grid](x, self.conv.weight, self.conv.bias, out, filters, channels, height, width, n, BLOCK=32)
        return out
