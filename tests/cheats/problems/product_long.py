"""An IEEE float32 product with a long inner dimension."""

import torch
import torch.nn as nn

ROWS = 256
INNER = 4096
COLS = 320


class Model(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(ROWS, INNER), torch.rand(INNER, COLS)]


def get_init_inputs() -> list[int]:
    return []
