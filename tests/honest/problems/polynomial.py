"""A polynomial of degree six."""

import torch
import torch.nn as nn

ROWS = 96
COLS = 8000


class Model(nn.Module):
    def forward(self, x):
        total = torch.zeros_like(x)
        for factor in (0.5, -0.25, 0.125, 1.0, -2.0, 0.75, 0.1):
            total = total * x + factor
        return total


def get_inputs() -> list:
    return [torch.randn(ROWS, COLS)]


def get_init_inputs() -> list:
    return []
