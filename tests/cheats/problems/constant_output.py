"""Degenerate: a softmax over one value, so that nothing depends on the input."""

import torch
import torch.nn as nn

ROWS = 512
COLS = 768


class Model(nn.Module):
    def __init__(self, cols: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(cols))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x.sum(dim=1, keepdim=True), dim=1) * self.weight


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(ROWS, COLS)]


def get_init_inputs() -> list[int]:
    return [COLS]
