"""A product with int8 weights and a scale for each row of them."""

import torch
import torch.nn as nn

ROWS = 256
INNER = 512
COLS = 300


class Model(nn.Module):
    def __init__(self, inner, cols):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (cols, inner), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(cols) * 0.01)

    def forward(self, x):
        return x @ (self.weight.to(x.dtype) * self.scale[:, None]).t()


def get_inputs() -> list:
    return [torch.randn(ROWS, INNER)]


def get_init_inputs() -> list:
    return [INNER, COLS]
