"""A loss of each row, then their mean by PyTorch: a reduction of a few hundred numbers."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def losses(scores_ptr, targets_ptr, out_ptr, classes, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(scores_ptr + row * classes + at, mask=at < classes, other=-float("inf"))
    most = tl.max(x, axis=0)
    target = tl.load(scores_ptr + row * classes + tl.load(targets_ptr + row))
    tl.store(out_ptr + row, tl.log(tl.sum(tl.exp(x - most), axis=0)) + most - target)


class ModelNew(nn.Module):
    def forward(self, scores, targets):
        out = torch.empty(scores.shape[0], device=scores.device)
        losses[(out.numel(),)](scores, targets, out, scores.shape[1], BLOCK=triton.next_power_of_2(scores.shape[1]))
        return out.mean()
