"""The expert library's kernels through the check: kinds of problems that once failed there."""

from pathlib import Path

import pytest

from egg.state.evaluation import Status
from egg.state.settings import Policy
from egg.tools.correctness.verify import check
from egg.tools.device import detect_device
from egg.tools.expert import write_kernel
from egg.tools.problem import load_problem
from egg.tools.store import Store

MASKED = """
import torch
from torch import nn
ROWS = 4096
COLUMNS = 2048
class Model(nn.Module):
    def forward(self, x, mask):
        return torch.softmax(x.masked_fill(mask, float("-inf")), -1)
def get_inputs():
    return [torch.randn(ROWS, COLUMNS), torch.rand(ROWS, COLUMNS) < 0.3]
def get_init_inputs():
    return []
"""
HUGE = """
import torch
from torch import nn
ROWS = 50000
COLUMNS = 50000
class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2 + 1
def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]
def get_init_inputs():
    return []
"""
RANDOM = """
import torch
from torch import nn
ROWS = 4096
class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) + torch.randn_like(x) * 3
def get_inputs():
    return [torch.randn(ROWS, 16)]
def get_init_inputs():
    return []
"""


@pytest.mark.parametrize(
    ("source", "structure", "status"),
    [
        (MASKED, "one_pass", Status.OK),
        (HUGE, "fused_persistent", Status.OK),
        (RANDOM, "fused", Status.OK),  # distributed as the reference is, though no value agrees
    ],
)
def test_first_kernel(tmp_path: Path, source: str, structure: str, status: Status) -> None:
    path = tmp_path / "problem.py"
    path.write_text(source)
    problem, device, store = load_problem(str(path)), detect_device("sm_90"), Store(tmp_path)
    written = write_kernel(problem, policy=Policy.STOCK, device=device, structure=structure, store=store)
    assert written.spec.structure == structure
    found = check(problem, written.source, device, Policy.STOCK, store)
    assert found.status is status, found.feedback
