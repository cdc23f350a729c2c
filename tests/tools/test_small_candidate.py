"""A candidate that took sizes over from the problem is checked with those sizes made small, like the problem."""

from pathlib import Path

from egg.state.evaluation import Status
from egg.state.settings import Policy
from egg.tools.correctness.verify import check
from egg.tools.expert import write_kernel
from egg.tools.problem import load_problem, sized_candidate
from egg.tools.shrink import resized
from egg.tools.store import Store
from tests.tools.expert.problems import DEVICE

PROBLEM = """
import torch
import torch.nn as nn

ROWS, WIDTH = 8192, 4096
SCALE = 1.0 / WIDTH


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.scale = SCALE
        self.half = WIDTH // 2

    def forward(self, x):
        return torch.relu(self.norm(x) * self.scale + self.half)


def get_inputs():
    return [torch.randn(ROWS, WIDTH)]
"""

HEADS = """
import torch
import torch.nn as nn

ROWS, WIDTH = 8192, 4096
HEADS = 16
UNUSED = 64


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x.view(ROWS, HEADS, WIDTH // HEADS), -1) * HEADS


def get_inputs():
    return [torch.randn(ROWS, WIDTH)]
"""


def test_a_module_of_module_level_constants_is_right_at_the_small_size(tmp_path: Path) -> None:
    file, store = tmp_path / "constants.py", Store(tmp_path / "store")
    file.write_text(PROBLEM)
    problem = load_problem(str(file))
    kernel = write_kernel(problem, policy=Policy.STOCK, device=DEVICE, store=store)
    assert "WIDTH = 8192, 4096" in kernel.source.replace("(", "").replace(")", "") and not kernel.torch_regions
    found = check(problem, kernel.source, DEVICE, Policy.STOCK, store, cases="quick")
    assert found.status is Status.OK, found.feedback


def test_with_a_gpu_the_candidate_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "constants.py"
    file.write_text(PROBLEM)
    problem = load_problem(str(file))
    here = DEVICE.model_copy(update={"present": True})
    assert sized_candidate(problem, PROBLEM, here) == PROBLEM
    assert sized_candidate(problem, PROBLEM, DEVICE) == problem.small_source


def test_only_the_same_name_with_the_same_value_is_a_size() -> None:
    candidate = "WIDTH = 4096\nROWS = 64\nBLOCK = 4096\n"
    assert resized(candidate, PROBLEM, {"WIDTH": 33, "ROWS": 9}) == candidate.replace("WIDTH = 4096", "WIDTH = 33")
    assert resized("WIDTH = (", PROBLEM, {"WIDTH": 33}) == "WIDTH = ("


def test_a_constant_that_only_forward_reads_is_kept(tmp_path: Path) -> None:
    file, store = tmp_path / "constants.py", Store(tmp_path / "store")
    file.write_text(HEADS)
    problem = load_problem(str(file))
    assert "HEADS" in problem.small_constants
    kernel = write_kernel(problem, policy=Policy.STOCK, device=DEVICE, store=store)
    assert "HEADS = 16" in kernel.source and "UNUSED" not in kernel.source and not kernel.torch_regions
    found = check(problem, kernel.source, DEVICE, Policy.STOCK, store, cases="quick")
    assert found.status is Status.OK, found.feedback
