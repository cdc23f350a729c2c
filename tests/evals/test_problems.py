"""Our own problems without a GPU: the library's first kernel for each passes the judge, and whole runs end with one."""

import json
from pathlib import Path

import pytest

from egg.evals.sweep import PROBLEMS, row
from egg.state.device import Device
from egg.state.settings import Policy
from egg.tools.device import detect_device
from egg.tools.expert import write_kernel
from egg.tools.judge import judge
from egg.tools.problem import load_problem
from egg.tools.store import Store
from egg.tools.workload import analyse

NAMES = sorted(path.stem for path in PROBLEMS.glob("*.py"))
MAY_STAY = {"transformer_block", "conv_bias_relu"}
"""Problems with a region that the library leaves to PyTorch."""


@pytest.fixture(scope="module")
def device() -> Device:
    return detect_device("sm_90").model_copy(update={"present": False})


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_first_kernel_is_right(name: str, device: Device, tmp_path: Path) -> None:
    store, problem = Store(tmp_path), load_problem(str(PROBLEMS / f"{name}.py"))
    workload = analyse(problem, Policy.STOCK, store)
    kernel = write_kernel(
        problem, policy=Policy.STOCK, device=device, structure=workload.structures[0], edits=None, store=store
    )
    assert kernel.spec.regions
    assert name in MAY_STAY or not kernel.torch_regions
    verdict = judge(problem, kernel.source, device, Policy.STOCK, store)
    assert verdict.ok, verdict.feedback
    assert verdict.mode == "interpreter" and verdict.profile and verdict.profile.launches


@pytest.mark.slow
@pytest.mark.parametrize("name", ["matmul_residual", "mlp_mean", "row_max"])
def test_a_whole_run_ends_with_a_kernel(name: str, tmp_path: Path) -> None:
    ended = row(PROBLEMS / f"{name}.py", tmp_path / name, "stock", minutes=10)
    outcome = json.loads((tmp_path / name / "evidence.json").read_text())["outcome"]
    assert ended["correct"] and outcome["kernel"], outcome["claim"]
    assert "class ModelNew" in (tmp_path / name / "kernel.py").read_text()
