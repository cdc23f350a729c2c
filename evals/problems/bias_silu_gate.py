"""Pointwise chain: silu(x + bias) * gate."""

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 16384
COLS = 4096


class Model(nn.Module):
    def __init__(self, cols: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.randn(cols))

    def forward(self, x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        return F.silu(x + self.bias) * gate


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(ROWS, COLS), torch.randn(ROWS, COLS)]


def get_init_inputs() -> list[int]:
    return [COLS]
