"""A problem whose precision is at stake: an IEEE float32 matrix product."""

import torch
import torch.nn as nn

SIZE = 96


class Model(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(SIZE, SIZE), torch.rand(SIZE, SIZE)]


def get_init_inputs() -> list[float]:
    return []
