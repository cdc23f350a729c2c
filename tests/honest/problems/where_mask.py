"""Values where a mask says so, another's elsewhere."""

import torch
import torch.nn as nn

ROWS = 96
COLS = 8000


class Model(nn.Module):
    def forward(self, mask, x, y):
        return torch.where(mask, x, y), mask.sum(dim=1)


def get_inputs() -> list:
    return [torch.rand(ROWS, COLS) > 0.5, torch.randn(ROWS, COLS), torch.randn(ROWS, COLS)]


def get_init_inputs() -> list:
    return []
