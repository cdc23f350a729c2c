"""Problem files, good and bad, and how they are made small."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from egg.state.device import Device
from egg.state.errors import UserError
from egg.tools.device import detect_device
from egg.tools.problem import load_problem, sized_source
from egg.tools.sandbox.client import shutdown

GOOD = """
import torch
import torch.nn as nn

ROWS = 4096
COLS = 8192

class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs():
    return [torch.randn(ROWS, COLS)]

def get_init_inputs():
    return []
"""

BAD = {
    "syntax": (GOOD.replace("def forward(self, x):", "def forward(self, x:"), "syntax error in line 9"),
    "import": (GOOD.replace("import torch\n", "import torch\nimport no_such_module\n", 1), "no_such_module"),
    "no_model": (GOOD.replace("class Model(", "class Other("), "no `Model`"),
    "no_inputs": (GOOD.replace("get_inputs()", "make_inputs()"), "no `get_inputs`"),
    "not_a_module": (GOOD.replace("class Model(nn.Module)", "class Model"), "derived from torch.nn.Module"),
    "inputs_raise": (GOOD.replace("return [torch.randn", "1 / 0\n    return [torch.randn"), "ZeroDivisionError"),
    "no_tensor": (GOOD.replace("[torch.randn(ROWS, COLS)]", "[1, 2]"), "returns no tensor"),
    "fails": (GOOD.replace("torch.relu(x)", "torch.relu(x) @ x"), "the reference fails"),
    "returns_none": (GOOD.replace("return torch.relu(x)", "torch.relu(x)"), "reference returns no tensor"),
    "sparse": (
        GOOD.replace("return torch.relu(x)", "return torch.relu(x).to_sparse()"),
        "sparse tensor; return it dense",
    ),
    "constructor": (GOOD.replace("return []", "return [3]"), "Model cannot be built"),
}


@pytest.fixture(scope="module", autouse=True)
def end_children() -> Iterator[None]:
    yield
    shutdown()


@pytest.fixture(scope="module")
def absent() -> Device:
    return detect_device("sm_90").model_copy(update={"present": False})


def write(folder: Path, source: str, name: str = "problem.py") -> str:
    path = folder / name
    path.write_text(source)
    return str(path)


def test_a_problem_is_read_and_made_small(tmp_path: Path) -> None:
    problem = load_problem(write(tmp_path, GOOD))
    assert problem.name == "problem" and len(problem.digest) == 64
    rows, cols = problem.small_constants["ROWS"], problem.small_constants["COLS"]
    assert rows * cols <= 1 << 16 and rows % 2 and cols % 2 and rows != cols
    assert problem.small_source == GOOD.replace("4096", str(rows)).replace("8192", str(cols))


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_line_for_the_user(name: str, tmp_path: Path) -> None:
    source, expected = BAD[name]
    with pytest.raises(UserError) as caught:
        load_problem(write(tmp_path, source))
    assert expected in str(caught.value) and "\n" not in str(caught.value)


def test_no_file_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        load_problem(str(tmp_path / "missing.py"))
    (tmp_path / "image.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="UTF-8"):
        load_problem(str(tmp_path / "image.py"))


def test_a_file_that_ends_the_process_is_the_users_to_mend(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="crashed"):
        load_problem(write(tmp_path, "import os\nos._exit(3)\n"))


def test_its_own_small_inputs_come_first(tmp_path: Path, absent: Device) -> None:
    own = GOOD + "\ndef get_small_inputs():\n    return [torch.randn(3, 5)]\n"
    problem = load_problem(write(tmp_path, own))
    assert problem.small_constants == {} and problem.small_source is not None
    assert problem.small_source.startswith(own) and "get_inputs = get_small_inputs" in problem.small_source
    assert sized_source(problem, absent) == problem.small_source
    assert sized_source(problem, absent.model_copy(update={"present": True})) == own


def test_divisible_sizes_stay_divisible(tmp_path: Path) -> None:
    heads = GOOD.replace("ROWS = 4096", "ROWS = 4096\nHEADS = 16").replace(
        "return torch.relu(x)", "return x.view(len(x), HEADS, COLS // HEADS).softmax(-1)"
    )
    small = load_problem(write(tmp_path, heads)).small_constants
    assert small["COLS"] % small["HEADS"] == 0 and small["COLS"] > small["HEADS"]


def test_without_small_sizes_the_user_is_told_what_to_do(tmp_path: Path, absent: Device) -> None:
    fixed = GOOD.replace("torch.relu(x)", "torch.relu(x.view(1 << 12, 1 << 13))")
    problem = load_problem(write(tmp_path, fixed))
    assert problem.small_source is None
    with pytest.raises(UserError, match="get_small_inputs"):
        sized_source(problem, absent)
