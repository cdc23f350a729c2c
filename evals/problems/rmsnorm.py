"""RMS normalisation over the last dimension, spelled out."""

import torch
import torch.nn as nn

ROWS = 16384
COLS = 8192


class Model(nn.Module):
    def __init__(self, cols: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(cols) + 0.5)
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rms = torch.sqrt(torch.mean(x**2, dim=-1, keepdim=True) + self.eps)
        return x / rms * self.weight


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(ROWS, COLS)]


def get_init_inputs() -> list[int | float]:
    return [COLS, 1e-6]
