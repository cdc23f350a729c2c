"""Twice a matrix that arrives transposed."""

import torch
import torch.nn as nn

ROWS = 1000
COLS = 600


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2.0 + 1.0


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(COLS, ROWS).t()]


def get_init_inputs() -> list[int]:
    return []
