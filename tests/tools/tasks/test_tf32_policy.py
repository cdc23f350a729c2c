"""Policies decide what is precise enough, with and without a GPU."""

from pathlib import Path

import pytest

from egg.state.evaluation import Status
from egg.state.settings import Policy
from egg.tools.correctness.verify import check
from egg.tools.device import detect_device
from egg.tools.problem import load_problem
from egg.tools.store import Store

PRODUCT = """
import torch
from torch import nn
SIZE = 64
class Model(nn.Module):
    def forward(self, a, b):
        return a @ b
def get_inputs():
    return [torch.randn(SIZE, SIZE), torch.randn(SIZE, SIZE)]
def get_init_inputs():
    return []
"""
ROUNDING = """
import torch
import triton
import triton.language as tl
from torch import nn

@triton.jit
def kept(x, BITS: tl.constexpr):
    bits = x.to(tl.int32, bitcast=True) + (1 << (22 - BITS))
    return (bits & (0 - (1 << (23 - BITS)))).to(tl.float32, bitcast=True)

@triton.jit
def product(a, b, c, n, BLOCK: tl.constexpr, BITS: tl.constexpr):
    i = tl.arange(0, BLOCK)[:, None]
    j = tl.arange(0, BLOCK)[None, :]
    inside = (i < n) & (j < n)
    left = kept(tl.load(a + i * n + j, inside, other=0.0), BITS)
    right = kept(tl.load(b + i * n + j, inside, other=0.0), BITS)
    tl.store(c + i * n + j, tl.dot(left, right), inside)

class ModelNew(nn.Module):
    def forward(self, a, b):
        c = torch.empty_like(a)
        product[(1,)](a, b, c, a.shape[0], triton.next_power_of_2(a.shape[0]), BITS)
        return c
"""


@pytest.mark.parametrize(
    ("bits", "policy", "status"),
    [
        (10, Policy.TF32, Status.OK),
        (10, Policy.STOCK, Status.MISMATCH),
        (10, Policy.IEEE, Status.MISMATCH),
        (7, Policy.TF32, Status.MISMATCH),  # bfloat16's mantissa
    ],
)
def test_operands_rounded_to_so_many_bits(tmp_path: Path, bits: int, policy: Policy, status: Status) -> None:
    path = tmp_path / "product.py"
    path.write_text(PRODUCT)
    source = ROUNDING.replace("BITS)\n        return", f"{bits})\n        return")
    found = check(load_problem(str(path)), source, detect_device("sm_90"), policy, Store(tmp_path))
    assert found.status is status, found.feedback
