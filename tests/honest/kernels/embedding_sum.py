"""Rows gathered by int64 indices."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gather(words_ptr, table_ptr, out_ptr, length, width, BLOCK: tl.constexpr):
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for place in range(0, length):
        word = tl.load(words_ptr + tl.program_id(0) * length + place)
        total += tl.load(table_ptr + word * width + at, mask=at < width, other=0.0)
    tl.store(out_ptr + tl.program_id(0) * width + at, total, mask=at < width)


class ModelNew(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Embedding(words, width)

    def forward(self, words):
        (batch, length), width = words.shape, self.table.weight.shape[1]
        out = torch.empty(batch, width, device=words.device)
        gather[(batch, triton.cdiv(width, 128))](words, self.table.weight, out, length, width, BLOCK=128)
        return out
