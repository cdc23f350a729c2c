"""Statistics by Triton, running ones by Triton too."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def statistics(x_ptr, mean_ptr, var_ptr, run_mean_ptr, run_var_ptr, rows, cols, momentum, BLOCK: tl.constexpr):
    col = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = col < cols
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(0, rows):
        total += tl.load(x_ptr + row * cols + col, mask=inside, other=0.0)
    mean = total / rows
    squares = tl.zeros((BLOCK,), tl.float32)
    for row in range(0, rows):
        off = tl.load(x_ptr + row * cols + col, mask=inside, other=0.0) - mean
        squares += off * off
    tl.store(mean_ptr + col, mean, mask=inside)
    tl.store(var_ptr + col, squares / rows, mask=inside)
    old_mean = tl.load(run_mean_ptr + col, mask=inside, other=0.0)
    old_var = tl.load(run_var_ptr + col, mask=inside, other=0.0)
    tl.store(run_mean_ptr + col, old_mean + momentum * (mean - old_mean), mask=inside)
    tl.store(run_var_ptr + col, old_var + momentum * (squares / (rows - 1) - old_var), mask=inside)


@triton.jit
def normalise(x_ptr, mean_ptr, var_ptr, weight_ptr, bias_ptr, out_ptr, n, cols, eps, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    col = at % cols
    x = tl.load(x_ptr + at, mask=inside, other=0.0) - tl.load(mean_ptr + col, mask=inside, other=0.0)
    x = x / tl.sqrt(tl.load(var_ptr + col, mask=inside, other=1.0) + eps)
    x = x * tl.load(weight_ptr + col, mask=inside, other=0.0) + tl.load(bias_ptr + col, mask=inside, other=0.0)
    tl.store(out_ptr + at, tl.maximum(x, 0.0), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.norm = nn.BatchNorm1d(cols)

    def forward(self, x):
        rows, cols = x.shape
        norm, out = self.norm, torch.empty_like(x)
        mean, var = torch.empty(2, cols, device=x.device).unbind(0)
        grid = (triton.cdiv(cols, 64),)
        statistics[grid](x, mean, var, norm.running_mean, norm.running_var, rows, cols, norm.momentum, BLOCK=64)
        norm.num_batches_tracked.add_(1)
        grid = (triton.cdiv(x.numel(), 1024),)
        normalise[grid](x, mean, var, norm.weight, norm.bias, out, x.numel(), cols, norm.eps, BLOCK=1024)
        return out
