"""Child task: the kernels that ceilings are measured with, in the interpreter."""

from typing import Any

import torch

from egg.tools.tasks.ceilings import _product, _read


def work(payload: dict[str, Any]) -> dict[str, Any]:
    """Whether each program's sums of all rounds add up, and the largest error of the product."""
    programs, block, blocks, rounds = 5, 64, 13, 3
    data = torch.randn(blocks * block)
    same: list[bool] = []
    for keep_out in (False, True):
        out = torch.zeros(programs)
        _read[(programs,)](data, out, blocks, rounds, BLOCK=block, KEEP_OUT=keep_out)
        same.append(bool(torch.allclose(out.sum(), rounds * data.sum(), rtol=1e-4, atol=1e-3)))
    size = 64
    a, b, c = torch.randn(size, size), torch.randn(size, size), torch.zeros(size, size)
    _product[(size // 32 * (size // 16),)](a, b, c, size, BM=32, BN=16, BK=16, GROUP=8)
    return {"sums": same, "error": float((c - a @ b.T).abs().max())}
