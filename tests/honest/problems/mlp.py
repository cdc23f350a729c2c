"""Two layers, the second added to the input; constructed by keywords."""

import torch
import torch.nn as nn

ROWS = 256
WIDTH = 200
HIDDEN = 300


class Model(nn.Module):
    def __init__(self, width, hidden=64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))

    def forward(self, x):
        return x + self.layers(x)


def get_inputs() -> list:
    return [torch.randn(ROWS, WIDTH)]


def get_init_inputs() -> list:
    return [[WIDTH], {"hidden": HIDDEN}]
