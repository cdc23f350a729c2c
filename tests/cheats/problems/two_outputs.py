"""A gated sum and its row sums: two results."""

import torch
import torch.nn as nn

ROWS = 96
COLS = 8000


class Model(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        gated = x * y
        return gated, gated.sum(dim=-1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(ROWS, COLS), torch.randn(ROWS, COLS)]


def get_init_inputs() -> list[int]:
    return []
