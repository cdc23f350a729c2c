"""A Python number among the arguments; dataclass, cached helper, annotations, assertions."""

from dataclasses import dataclass
from functools import lru_cache

import torch
import torch.nn as nn
import triton
import triton.language as tl


@dataclass(frozen=True)
class Shape:
    """What a launch depends on."""

    elements: int
    block: int = 1024

    @property
    def grid(self) -> tuple[int]:
        return (triton.cdiv(self.elements, self.block),)


@lru_cache
def shape_of(elements: int) -> Shape:
    assert elements > 0, f"nothing to do for {elements} elements"
    return Shape(elements)


@triton.jit
def scaled_relu(x_ptr, y_ptr, out_ptr, scale, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    y = tl.load(y_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, tl.maximum(x * scale + y, 0.0), mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor, scale: float) -> torch.Tensor:
        if x.shape != y.shape:
            raise ValueError(f"shapes differ: {x.shape} and {y.shape}")
        out = torch.empty_like(x)
        shape = shape_of(x.numel())
        scaled_relu[shape.grid](x, y, out, scale, shape.elements, BLOCK=shape.block)
        return out
