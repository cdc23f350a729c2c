"""RMS normalisation in bfloat16 with float32 arithmetic, as language models spell it."""

import torch
import torch.nn as nn

BATCH = 8
TOKENS = 4096
COLS = 4096


class Model(nn.Module):
    def __init__(self, cols: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(cols, dtype=torch.bfloat16))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * scaled.to(x.dtype)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(BATCH, TOKENS, COLS, dtype=torch.bfloat16)]


def get_init_inputs() -> list[int | float]:
    return [COLS, 1e-6]
