"""A linear layer and ReLU: weights that a kernel may be tempted to prepare once."""

import torch
import torch.nn as nn

ROWS = 1024
INNER = 1040
COLS = 1056


class Model(nn.Module):
    def __init__(self, inner: int, cols: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inner, cols)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(ROWS, INNER)]


def get_init_inputs() -> list[int]:
    return [INNER, COLS]
