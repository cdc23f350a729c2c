"""ReLU of a scaled sum; the scale is a number among the inputs."""

import torch
import torch.nn as nn

ROWS = 96
COLS = 8000


class Model(nn.Module):
    def forward(self, x, y, scale):
        return torch.relu(x * scale + y)


def get_inputs() -> list:
    return [torch.randn(ROWS, COLS), torch.randn(ROWS, COLS), 1.75]


def get_init_inputs() -> list:
    return []
