"""KernelBench's own verdict: where it agrees with ours, and where a cheat fools it and not us."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from egg.state.device import Device
from egg.state.evaluation import Status
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.device import detect_device
from egg.tools.judge import judge
from egg.tools.problem import load_problem
from egg.tools.sandbox.client import run, shutdown
from egg.tools.stock import stock_verdict
from egg.tools.stock_checker import checker_errors
from egg.tools.store import Store

SOFTMAX = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


def get_inputs():
    return [torch.rand(4, 20_000)]


def get_small_inputs():
    return [torch.rand(4, 20_000)]
"""
"""Every value is about 5e-5: within KernelBench's absolute tolerance of zero."""

HEAD = """
import torch
import triton
import triton.language as tl


@triton.jit
def zero(out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.zeros((BLOCK,), tl.float32), mask=at < n)


"""
ZEROS = (
    HEAD
    + """
class ModelNew(torch.nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        zero[(triton.cdiv(out.numel(), 4096),)](out, out.numel(), BLOCK=4096)
        return out
"""
)
PATCHED = HEAD + "torch.allclose = lambda *a, **k: True\n" + ZEROS.removeprefix(HEAD).replace("return out", "return x")
WRONG_SHAPE = ZEROS.replace("return out", "return out[:2]")
HALVES = ZEROS.replace("return out", "return out.half()")
RIGHT = ZEROS.replace("return out", "return torch.softmax(x, -1)")
ENDS = HEAD + "import os\nos._exit(0)\n"
HANGS = ZEROS.replace("return out", "while True: pass")


@pytest.fixture(scope="module", autouse=True)
def end_children() -> Iterator[None]:
    yield
    shutdown()


@pytest.fixture(scope="module")
def device() -> Device:
    return detect_device("sm_90").model_copy(update={"present": False})


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    path = tmp_path_factory.mktemp("stock") / "softmax.py"
    path.write_text(SOFTMAX)
    return load_problem(str(path))


@pytest.mark.parametrize(
    ("source", "correct", "note"),
    [
        (RIGHT, True, ""),
        (ZEROS, True, ""),
        (PATCHED, True, ""),
        (WRONG_SHAPE, False, "shape [2, 20000] instead of [4, 20000]"),
        (HALVES, False, "RuntimeError"),
        ("class ModelNew: ...", False, "AttributeError"),
        ("nonsense", False, "NameError"),
        (ENDS, False, "crashed"),
    ],
)
def test_what_it_would_say(source: str, correct: bool, note: str, problem: Problem, device: Device) -> None:
    said = stock_verdict(problem, source, device, seconds=15)
    assert (said.correct, said.passed, said.mode) == (correct, 5 if correct else 0, "interpreter"), said
    assert note in said.note and said.tolerance == 1e-4
    assert said.candidate_ms is None and said.speedup is None and not said.excessive


@pytest.mark.slow
def test_it_stands_beside_ours(problem: Problem, device: Device, tmp_path: Path) -> None:
    store = Store(tmp_path / "run", tmp_path / "cache")
    ours = judge(problem, ZEROS, device, Policy.STOCK, store, confirm=True)
    assert ours.status is Status.MISMATCH and ours.stock is not None and ours.stock.correct
    assert ours.stock.told() == "correct, 5 of 5 trials at 0.0001"
    refused = judge(problem, PATCHED + "# try: it\n", device, Policy.STOCK, store, confirm=True)
    assert refused.status is Status.CHEAT and refused.faults[0].line == HEAD.count("\n") + 1
    assert refused.stock is not None and refused.stock.correct
    assert judge(problem, ZEROS, device, Policy.STOCK, store).stock is None


def test_it_gives_up(problem: Problem, device: Device) -> None:
    said = stock_verdict(problem, HANGS, device, seconds=1.5)
    assert not said.correct and "timeout" in said.note


def test_zeros_are_told_from_what_is_not_small(problem: Problem, device: Device, tmp_path: Path) -> None:
    path = tmp_path / "narrow.py"
    path.write_text(SOFTMAX.replace("20_000", "200"))
    said = stock_verdict(load_problem(str(path)), ZEROS, device, seconds=15)
    assert not said.correct and said.passed == 0 and said.note.startswith("greatest difference 0.00")


def test_indices_are_cast_too(device: Device, tmp_path: Path) -> None:
    path = tmp_path / "lookup.py"
    path.write_text(
        SOFTMAX.split("class Model")[0]
        + "class Model(torch.nn.Module):\n    def forward(self, table, at):\n        return table[at]\n\n\n"
        + "def get_inputs():\n    return [torch.rand(9, 4), torch.arange(3)]\n"
    )
    said = stock_verdict(load_problem(str(path)), RIGHT, device, seconds=15)
    assert not said.correct and said.note.startswith("the reference itself fails: IndexError")


def test_its_numbers() -> None:
    reply = run("tests.tools.stock_numbers:numbers", {}).require("numbers")
    assert reply["seeds"] == reply["drawn"] and len(set(reply["seeds"])) == 5
    assert reply["means"] == [0.0123, 12.3, 1230.0]
    assert reply["types"] == ["torch.float32", "torch.bfloat16", "torch.float32"]
    assert reply["cast"] == ["torch.float16", "torch.float16", "int"]


def test_its_static_checker() -> None:
    assert checker_errors(ZEROS) == ()
    assert checker_errors(ZEROS + "\n# try: pass\n") == ()
    assert checker_errors(ZEROS + "\nclass Empty: pass\n") == ("the word pass",)
    assert checker_errors(ZEROS + "\ntry:\n    x = 1\nexcept ValueError:\n    x = 2\n") == ("a try or except",)
    assert checker_errors(ZEROS + "\ntorch.cuda.Event.elapsed_time = None\n") == (
        "a timing function that is assigned to",
    )
    assert checker_errors("import threading\n" + ZEROS) == ("threads or processes",)
    assert checker_errors(ZEROS + "\nclass Lazy(torch.Tensor): x = 1\n") == ("a tensor subclass",)
    assert len(checker_errors("import torch\n")) == 2
