"""Sum of the embeddings of several words."""

import torch
import torch.nn as nn

WORDS = 2000
BATCH = 256
LENGTH = 32
WIDTH = 300


class Model(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Embedding(words, width)

    def forward(self, words):
        return self.table(words).sum(dim=1)


def get_inputs() -> list:
    return [torch.randint(0, WORDS, (BATCH, LENGTH))]


def get_init_inputs() -> list:
    return [WORDS, WIDTH]
