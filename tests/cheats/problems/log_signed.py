"""Logarithm of numbers of either sign: NaN where they are negative."""

import torch
import torch.nn as nn

ROWS = 500
COLS = 1000


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.log(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(ROWS, COLS)]


def get_init_inputs() -> list[int]:
    return []
