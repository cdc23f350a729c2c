"""Matrix product added to a residual, then ReLU."""

import torch
import torch.nn as nn

ROWS = 4096
INNER = 2048
COLS = 4096


class Model(nn.Module):
    def __init__(self, inner: int, cols: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inner, cols) / inner**0.5)

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        return torch.relu(torch.matmul(x, self.weight) + residual)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(ROWS, INNER), torch.randn(ROWS, COLS)]


def get_init_inputs() -> list[int]:
    return [INNER, COLS]
