"""A convolution with bias and ReLU."""

import torch
import torch.nn as nn

BATCH = 8
CHANNELS = 16
FILTERS = 24
SIDE = 65


class Model(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x))


def get_inputs() -> list:
    return [torch.randn(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs() -> list:
    return [CHANNELS, FILTERS]
