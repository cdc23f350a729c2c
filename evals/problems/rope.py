"""Rotary position embedding of queries and keys, halves rotated."""

import torch
import torch.nn as nn

BATCH = 8
HEADS = 16
TOKENS = 4096
HEAD_SIZE = 128


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


class Model(nn.Module):
    def __init__(self, tokens: int, head_size: int) -> None:
        super().__init__()
        frequencies = 10000.0 ** (-torch.arange(0, head_size, 2).float() / head_size)
        angles = torch.outer(torch.arange(tokens).float(), frequencies)
        angles = torch.cat((angles, angles), dim=-1)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, q: torch.Tensor, k: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return q * self.cos + rotate_half(q) * self.sin, k * self.cos + rotate_half(k) * self.sin


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(BATCH, HEADS, TOKENS, HEAD_SIZE) for _ in range(2)]


def get_init_inputs() -> list[int]:
    return [TOKENS, HEAD_SIZE]
