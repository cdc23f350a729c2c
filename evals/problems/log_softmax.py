"""Log-softmax of temperature-scaled scores over a vocabulary."""

import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 4096
VOCABULARY = 32000


class Model(nn.Module):
    def __init__(self, temperature: float) -> None:
        super().__init__()
        self.temperature = temperature

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        return F.log_softmax(scores / self.temperature, dim=-1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(TOKENS, VOCABULARY)]


def get_init_inputs() -> list[float]:
    return [0.7]
