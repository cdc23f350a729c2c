"""Attention of every token to every other, spelled out in float16, 128 values a head."""

import torch
import torch.nn as nn

BATCH = 8
HEADS = 16
TOKENS = 2048
HEAD_SIZE = 128


class Model(nn.Module):
    def __init__(self, head_size: int) -> None:
        super().__init__()
        self.scale = head_size**-0.5

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        scores = torch.matmul(q, k.transpose(-2, -1)) * self.scale
        return torch.matmul(torch.softmax(scores, dim=-1), v)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(BATCH, HEADS, TOKENS, HEAD_SIZE, dtype=torch.float16) for _ in range(3)]


def get_init_inputs() -> list[int]:
    return [HEAD_SIZE]
