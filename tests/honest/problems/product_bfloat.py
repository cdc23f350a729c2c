"""A product of bfloat16 matrices and a bias."""

import torch
import torch.nn as nn

ROWS = 512
INNER = 640
COLS = 700


class Model(nn.Module):
    def __init__(self, inner, cols):
        super().__init__()
        self.linear = nn.Linear(inner, cols, dtype=torch.bfloat16)

    def forward(self, x):
        return self.linear(x)


def get_inputs() -> list:
    return [torch.randn(ROWS, INNER, dtype=torch.bfloat16)]


def get_init_inputs() -> list:
    return [INNER, COLS]
