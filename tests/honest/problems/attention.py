"""Attention of heads that lie side by side, with a projection before it."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
LENGTH = 256
HEADS = 4
WIDTH = 128


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in self.project(x).chunk(3, dim=-1))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width)


def get_inputs() -> list:
    return [torch.randn(BATCH, LENGTH, WIDTH)]


def get_init_inputs() -> list:
    return [WIDTH, HEADS]
