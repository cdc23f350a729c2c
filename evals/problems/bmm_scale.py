"""Batched matrix product times a constant."""

import torch
import torch.nn as nn

BATCH = 32
ROWS = 1024
INNER = 1024
COLS = 2048


class Model(nn.Module):
    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.bmm(a, b) * self.scale


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(BATCH, ROWS, INNER), torch.randn(BATCH, INNER, COLS)]


def get_init_inputs() -> list[float]:
    return [0.125]
