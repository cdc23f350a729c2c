"""Causal attention, 64 values a head."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
HEADS = 16
TOKENS = 2048
HEAD_SIZE = 64


class Model(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(BATCH, HEADS, TOKENS, HEAD_SIZE) for _ in range(3)]


def get_init_inputs() -> list[int]:
    return []
