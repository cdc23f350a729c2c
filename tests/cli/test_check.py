"""The judge alone, from the command line and from Python."""

import json
import signal
import time
from pathlib import Path

import pytest

from egg.state.conditions import Conditions
from egg.state.evaluation import Speedup, Timing
from egg.state.judgement import Judgement
from egg.state.status import Status
from egg.tools.judgement import judge_file
from egg.verdict import exit_code, print_judgement, rows
from tests.cli.make import egg, finish, problem, spawn
from tests.cli.processes import alive, descendants

KERNEL = """\
import torch
import triton
import triton.language as tl


@triton.jit
def scaled_silu(x_ptr, w_ptr, y_ptr, n, COLS, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    z = tl.load(x_ptr + at, mask=at < n) * tl.load(w_ptr + at % COLS, mask=at < n)
    tl.store(y_ptr + at, z * tl.sigmoid(z), mask=at < n)


class ModelNew(torch.nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(cols))

    def forward(self, x):
        y = torch.empty_like(x)
        scaled_silu[(triton.cdiv(x.numel(), 1024),)](x, self.weight, y, x.numel(), x.shape[-1], BLOCK=1024)
        return y
"""
WRONG = KERNEL.replace("z * tl.sigmoid(z)", "z")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    good, wrong = tmp_path / "kernel.py", tmp_path / "wrong.py"
    good.write_text(KERNEL)
    wrong.write_text(WRONG)
    return problem(tmp_path), good, wrong


def test_a_right_kernel_ends_with_zero(files, monkeypatch, capsys):
    toy, good, _ = files
    assert egg(monkeypatch, "check", toy, good, "--quick", "--target", "sm_90", "--json") == 0
    judgement = Judgement.model_validate_json(capsys.readouterr().out)
    assert judgement.evaluation.ok and judgement.evaluation.accuracy and judgement.quick
    assert judgement.problem == "toy" and judgement.device.target == "sm_90"


def test_a_wrong_kernel_ends_with_its_statuss_own_code(files, monkeypatch, capsys):
    toy, _, wrong = files
    assert egg(monkeypatch, "check", toy, wrong, "--quick", "--target", "sm_90") == exit_code(Status.MISMATCH)
    told = capsys.readouterr().out
    assert told.startswith("mismatch") and "element" in told


def test_every_status_has_a_code_of_its_own():
    codes = [exit_code(status) for status in Status]
    assert len(set(codes)) == len(codes) and exit_code(Status.OK) == 0
    assert all(code == 0 or 10 <= code < 64 for code in codes)


def test_from_python_the_same(files, capsys):
    toy, good, wrong = files
    assert judge_file(toy, good, quick=True, target="sm_90").evaluation.status is Status.OK
    judgement = judge_file(toy, wrong, quick=True, target="sm_90")
    assert judgement.evaluation.status is Status.MISMATCH
    print_judgement(judgement, as_json=True)
    assert json.loads(capsys.readouterr().out)["evaluation"]["status"] == "mismatch"


def test_ctrl_c_says_so_and_leaves_nobody(files, tmp_path):
    toy, good, _ = files
    checking = spawn(tmp_path, "check", toy, good, EGG_CACHE_DIR=str(tmp_path / "cache"))
    while not (children := descendants(checking.pid)):
        time.sleep(0.02)
    checking.send_signal(signal.SIGINT)
    code, _, err = finish(checking)
    assert (code, err) == (130, "egg: stopped\n")
    until = time.monotonic() + 2
    while alive(children) and time.monotonic() < until:
        time.sleep(0.02)
    assert not alive(children)


def test_a_cache_that_cannot_be_written(files, monkeypatch, capsys):
    toy, good, _ = files
    monkeypatch.setenv("EGG_CACHE_DIR", "/proc/nowhere")
    assert egg(monkeypatch, "check", toy, good, "--quick", "--target", "sm_90") == 2
    error = capsys.readouterr().err
    assert "EGG_CACHE_DIR" in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("sessions", "low", "says"),
    [(3, 1.4, ": faster"), (1, 1.4, "one session, which proves nothing yet"), (3, 0.9, "not proven faster")],
)
def test_one_session_is_no_proof(sessions, low, says, files):
    toy, good, _ = files
    judgement = judge_file(toy, good, quick=True, target="sm_90")
    speedup = Speedup(baseline="eager", ratio=1.5, low=low, high=1.6)
    timing = Timing(median_ms=0.01, p20_ms=0.01, p80_ms=0.01, samples=400)
    figures = {"timing": timing, "speedups": (speedup,), "conditions": Conditions(sessions=sessions, rounds=10)}
    measured = judgement.evaluation.model_copy(update=figures)
    told = dict(rows(judgement.model_copy(update={"evaluation": measured})))
    assert told["vs eager"].endswith(says)


@pytest.mark.parametrize(
    ("kernel", "options", "says"),
    [
        ("nowhere.py", [], "no such file"),
        (".", [], "cannot be read"),
        ("kernel.py", ["--policy", "exact"], "ieee"),
        ("kernel.py", ["--target", "sm_77"], "sm_90"),
    ],
)
def test_what_a_person_can_get_wrong(kernel, options, says, files, monkeypatch, capsys):
    toy, good, _ = files
    assert egg(monkeypatch, "check", toy, good.parent / kernel, *options) == 2
    error = capsys.readouterr().err
    assert says in error and error.startswith("egg: ") and error.count("\n") == 1


def test_a_problem_that_is_none(files, tmp_path, monkeypatch, capsys):
    assert egg(monkeypatch, "check", problem(tmp_path, "x = 1\n", "none"), files[1]) == 2
    assert "Model" in capsys.readouterr().err
