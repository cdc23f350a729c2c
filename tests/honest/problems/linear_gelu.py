"""A linear layer and GELU."""

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 512
INNER = 640
COLS = 700


class Model(nn.Module):
    def __init__(self, inner, cols):
        super().__init__()
        self.linear = nn.Linear(inner, cols)

    def forward(self, x):
        return F.gelu(self.linear(x))


def get_inputs() -> list:
    return [torch.randn(ROWS, INNER)]


def get_init_inputs() -> list:
    return [INNER, COLS]
