"""Autotuned over a key, with a heuristic beneath, several rows a program."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"ROWS_EACH": rows}, num_warps=4, num_stages=2) for rows in (1, 2, 4)], key=["rows", "cols"]
)
@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["cols"])})
@triton.jit
def softmax(x_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr, ROWS_EACH: tl.constexpr):
    row = tl.program_id(0) * ROWS_EACH + tl.arange(0, ROWS_EACH)
    at = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (at < cols)[None, :]
    x = tl.load(x_ptr + row[:, None] * cols + at[None, :], mask=inside, other=-1e30)
    e = tl.exp(x - tl.max(x, axis=1)[:, None])
    e = tl.where(inside, e, 0.0)
    tl.store(out_ptr + row[:, None] * cols + at[None, :], e / tl.sum(e, axis=1)[:, None], mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        out = torch.empty_like(x)
        softmax[lambda meta: (triton.cdiv(rows, meta["ROWS_EACH"]),)](x, out, rows, cols)
        return out
