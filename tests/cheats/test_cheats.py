"""Kernels that are wrong, or that only pretend, and the verdict each must get: from the numbers, and from the judge."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from egg.state.device import Device
from egg.state.evaluation import Baseline, Evaluation, Status
from egg.state.problem import Problem
from egg.state.settings import Policy, Settings
from egg.tools.device import detect_device
from egg.tools.judge import judge
from egg.tools.problem import load_problem
from egg.tools.sandbox.client import shutdown
from egg.tools.store import Store
from egg.tools.verify import check, probe

HERE = Path(__file__).parent
SECONDS = 15.0

BY_NUMBERS = {
    "honest": Status.OK,
    "zeros": Status.MISMATCH,
    "identity": Status.MISMATCH,
    "cache_by_address": Status.CHEAT,
    "call_counter": Status.CHEAT,
    "mutates_input": Status.REJECTED,
    "wrong_shape": Status.WRONG_SHAPE,
    "wrong_dtype": Status.WRONG_DTYPE,
    "tuple_for_tensor": Status.WRONG_SHAPE,
    "not_a_number": Status.MISMATCH,
    "no_tail": Status.MISMATCH,
    "no_mask": Status.RUNTIME_ERROR,
    "hang": Status.TIMEOUT,
    "memory_bomb": Status.OUT_OF_MEMORY,
    "early_exit": Status.CHEAT,
    "forged_answer": Status.CHEAT,
    "torch_with_decoy": Status.NOT_TRITON,
    "torch_alone": Status.NOT_TRITON,
    "patched_allclose": Status.CHEAT,
    "lazy_tensor": Status.CHEAT,
    "own_weights": Status.MISMATCH,
}
"""What comes of running it, without a look at its source."""

BY_JUDGE = {
    "honest": Status.OK,
    "zeros": Status.MISMATCH,
    "torch_with_decoy": Status.NOT_TRITON,
    "torch_alone": Status.NOT_TRITON,
    "early_exit": Status.REJECTED,
    "patched_allclose": Status.CHEAT,
    "falls_back": Status.REJECTED,
    "no_model": Status.REJECTED,
}
"""What the whole judge says, which reads the source first."""


@pytest.fixture(scope="module", autouse=True)
def end_children() -> Iterator[None]:
    yield
    shutdown()


@pytest.fixture(scope="module")
def device() -> Device:
    return detect_device("sm_90").model_copy(update={"present": False})


@pytest.fixture(scope="module")
def problem() -> Problem:
    return load_problem(str(HERE / "problem.py"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "run", tmp_path / "cache")


def source(name: str) -> str:
    return (HERE / f"{name}.py").read_text()


@pytest.mark.parametrize(("name", "status"), BY_NUMBERS.items())
def test_numbers_tell(name: str, status: Status, problem: Problem, device: Device, store: Store) -> None:
    seconds = 3.0 if name in ("hang", "forged_answer") else SECONDS
    verdict = check(problem, source(name), device, Policy.STOCK, store, seconds=seconds)
    assert (verdict.status, verdict.mode) == (status, "interpreter"), verdict.feedback


@pytest.mark.parametrize(("name", "status"), BY_JUDGE.items())
def test_the_judge_tells(name: str, status: Status, problem: Problem, device: Device, store: Store) -> None:
    verdict = _judge(source(name), problem, device, store)
    assert verdict.status is status, verdict.feedback
    assert verdict.timing is None and not verdict.speedups


def test_a_syntax_error_names_its_line(problem: Problem, device: Device, store: Store) -> None:
    verdict = _judge((HERE / "syntax_error.py.txt").read_text(), problem, device, store)
    assert verdict.status is Status.COMPILE_ERROR and "line 3" in verdict.feedback


@pytest.mark.parametrize(("name", "status"), [("product_ieee", Status.OK), ("product_bf16", Status.MISMATCH)])
def test_precision_is_not_for_sale(name: str, status: Status, device: Device, store: Store) -> None:
    verdict = check(load_problem(str(HERE / "product.py")), source(name), device, Policy.STOCK, store)
    assert verdict.status is status, verdict.feedback


def test_feedback_says_where(problem: Problem, device: Device, store: Store) -> None:
    tail = check(problem, source("no_tail"), device, Policy.STOCK, store, cases="quick")
    assert "wrong only at 5..6 of dimension 0" in tail.feedback and "tail" in tail.feedback
    assert "parameters differ" in check(problem, source("own_weights"), device, Policy.STOCK, store).feedback
    outside = check(problem, source("no_mask"), device, Policy.STOCK, store)
    assert "line 13" in outside.feedback and "mask is missing" in outside.feedback


def test_a_verdict_is_worked_out_once(problem: Problem, device: Device, store: Store) -> None:
    first = _judge(source("honest"), problem, device, store)
    journal = (store.run_dir / "journal.jsonl").read_text()
    assert _judge(source("honest"), problem, device, store) == first
    assert (store.run_dir / "journal.jsonl").read_text() == journal
    assert first.profile is not None and first.rank_ms == first.profile.estimate_ms


def test_a_probe_shows_both_sides(problem: Problem, device: Device) -> None:
    seen = probe(problem, source("zeros"), device, Policy.STOCK, "ones")
    assert seen["status"] == "mismatch" and "all zeros" in seen["feedback"]
    (output,) = seen["outputs"]
    assert output["candidate"]["first"] == [0.0] * 8 and output["expected"]["first"] != [0.0] * 8


def _judge(text: str, problem: Problem, device: Device, store: Store) -> Evaluation:
    baseline = Baseline(roofline_ms=0.001, bound="memory")
    return judge(problem, text, device, Settings(policy=Policy.STOCK), baseline, store)
