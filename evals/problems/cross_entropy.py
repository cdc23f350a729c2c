"""Mean cross-entropy of scores over a vocabulary."""

import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 4096
VOCABULARY = 32000


class Model(nn.Module):
    def forward(self, scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(scores, targets)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(TOKENS, VOCABULARY), torch.randint(0, VOCABULARY, (TOKENS,))]


def get_init_inputs() -> list[int]:
    return []
