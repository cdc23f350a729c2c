"""Sizes that a problem does not ask for are told with the verdict, and never change it."""

from pathlib import Path

import pytest

from egg.state.device import Device
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.state.status import Status
from egg.tools.correctness.heldout import held_out
from egg.tools.device import detect_device
from egg.tools.problem import load_problem

PROBLEM = """
import torch
from torch import nn
ROWS = 4096
COLS = 4096
class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2
def get_inputs():
    return [torch.rand(ROWS, COLS)]
"""
HALVES = PROBLEM.replace("torch.relu(x) * 2", "torch.cat(list(x.view(-1, 2).T)) * ROWS").replace(
    "4096\nCOLS", "64\nCOLS"
)
KERNEL = """
import torch
from torch import nn
class ModelNew(nn.Module):
    def forward(self, x):
        return {body}
"""


@pytest.fixture(scope="module")
def device() -> Device:
    return detect_device("sm_90").model_copy(update={"present": False})


def problem(tmp_path: Path, text: str) -> Problem:
    file = tmp_path / "sizes.py"
    file.write_text(text)
    return load_problem(str(file))


def test_every_kind_of_size_is_tried(tmp_path: Path, device: Device) -> None:
    given = problem(tmp_path, PROBLEM)
    found = held_out(given, KERNEL.format(body="torch.relu(x) * 2"), device, Policy.STOCK, 60.0)
    assert [(h.why, h.status) for h in found] == [("prime", Status.OK), ("one", Status.OK), ("larger", Status.OK)]
    sizes = {h.why: h.sizes for h in found}
    assert sizes["one"]["ROWS"] == 1 and sizes["larger"]["ROWS"] == 2 * given.small_constants["ROWS"] + 1
    assert sorted(sizes["prime"].values()) == [11, 13]


def test_a_kernel_made_for_one_size_is_told_so(tmp_path: Path, device: Device) -> None:
    given = problem(tmp_path, PROBLEM)
    only = f"torch.relu(x) * (2 if x.shape[0] == {given.small_constants['ROWS']} else 3)"
    found = held_out(given, KERNEL.format(body=only), device, Policy.STOCK, 60.0)
    assert {h.status for h in found} == {Status.MISMATCH}
    assert all("1.5 times the right one" in h.feedback for h in found)


def test_sizes_that_the_reference_refuses_are_said_to_be_left_out(tmp_path: Path, device: Device) -> None:
    given = problem(tmp_path, HALVES)
    found = held_out(given, KERNEL.format(body="x"), device, Policy.STOCK, 60.0)
    left_out = [h.why for h in found if h.status is None]
    assert "prime" in left_out
