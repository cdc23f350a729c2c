"""Two linear layers with nothing between them: their product is one matrix."""

import torch
import torch.nn as nn

ROWS = 1024
INNER = 512
HIDDEN = 1024
COLS = 256


class Model(nn.Module):
    def __init__(self, inner: int, hidden: int, cols: int) -> None:
        super().__init__()
        self.first = nn.Linear(inner, hidden, bias=False)
        self.second = nn.Linear(hidden, cols, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(ROWS, INNER)]


def get_init_inputs() -> list[int]:
    return [INNER, HIDDEN, COLS]
