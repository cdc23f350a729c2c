"""The problem that the cheats are to be caught on: a scaled addition with a ragged length."""

import torch
import torch.nn as nn

ROWS = 7
COLS = 143


class Model(nn.Module):
    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.bias = nn.Parameter(torch.randn(COLS))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.relu(x * self.scale + y) + self.bias


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(ROWS, COLS), torch.rand(ROWS, COLS)]


def get_init_inputs() -> list[float]:
    return [1.5]
