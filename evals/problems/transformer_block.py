"""Pre-norm transformer block: masked attention spelled out, then a GELU MLP, each with a residual."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
TOKENS = 1024
HEADS = 16
HEAD_SIZE = 64


class Model(nn.Module):
    def __init__(self, tokens: int, heads: int, head_size: int) -> None:
        super().__init__()
        size = heads * head_size
        self.heads = heads
        self.norm_1 = nn.LayerNorm(size)
        self.qkv = nn.Linear(size, 3 * size)
        self.project = nn.Linear(size, size)
        self.norm_2 = nn.LayerNorm(size)
        self.up = nn.Linear(size, 4 * size)
        self.down = nn.Linear(4 * size, size)
        self.register_buffer("mask", torch.tril(torch.ones(tokens, tokens)).view(1, 1, tokens, tokens))

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, size = x.shape
        q, k, v = (
            part.view(batch, tokens, self.heads, size // self.heads).transpose(1, 2)
            for part in self.qkv(x).split(size, dim=2)
        )
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.mask[:, :, :tokens, :tokens] == 0, float("-inf"))
        mixed = F.softmax(scores, dim=-1) @ v
        return self.project(mixed.transpose(1, 2).contiguous().view(batch, tokens, size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.norm_1(x))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(BATCH, TOKENS, HEADS * HEAD_SIZE)]


def get_init_inputs() -> list[int]:
    return [TOKENS, HEADS, HEAD_SIZE]


def get_small_inputs() -> list[torch.Tensor]:
    return [torch.randn(2, 19, 3 * 16)]


def get_small_init_inputs() -> list[int]:
    return [19, 3, 16]
