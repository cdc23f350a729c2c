"""Small MLP whose output is averaged: the mean over a linear layer's output is one dot product with its mean row."""

import torch
import torch.nn as nn

ROWS = 4096
IN_FEATURES = 2048
HIDDEN = 4096
OUT_FEATURES = 2048


class Model(nn.Module):
    def __init__(self, in_features: int, hidden: int, out_features: int) -> None:
        super().__init__()
        self.up = nn.Linear(in_features, hidden)
        self.down = nn.Linear(hidden, out_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.mean(self.down(torch.relu(self.up(x))), dim=1, keepdim=True)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(ROWS, IN_FEATURES)]


def get_init_inputs() -> list[int]:
    return [IN_FEATURES, HIDDEN, OUT_FEATURES]
