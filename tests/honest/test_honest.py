"""Kernels that are right, in every way that people write them, and must pass without an alarm.

Hand-written ones stand in `kernels/`; the expert library's are written when they are needed, in every structure that
it knows for a problem. What costs seconds in the interpreter is marked slow.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from egg.evals.corpus import Case, corpus
from egg.evals.library import library
from egg.evals.trial import numbers, verdict
from egg.state.device import Device
from egg.state.problem import Problem
from egg.tools.device import detect_device
from egg.tools.gate import refusal
from egg.tools.problem import load_problem
from egg.tools.sandbox.client import shutdown
from egg.tools.store import Store

CASES = corpus("honest")


@pytest.fixture(scope="module", autouse=True)
def end_children() -> Iterator[None]:
    yield
    shutdown()


@pytest.fixture(scope="module")
def device() -> Device:
    return detect_device("sm_90").model_copy(update={"present": False})


@cache
def problem(path: str) -> Problem:
    return load_problem(path)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "run", tmp_path / "cache")


def _params(cases: tuple[Case, ...]) -> list[object]:
    return [pytest.param(case, id=case.name, marks=[pytest.mark.slow] if case.slow else []) for case in cases]


@pytest.mark.parametrize("case", _params(CASES))
def test_passes(case: Case, device: Device, store: Store) -> None:
    assert refusal(case.source) is None
    seen = numbers(case, problem(case.problem), device, store)
    assert seen.ok, (seen.status, seen.feedback)


@pytest.mark.parametrize("case", _params(tuple(case for case in CASES if case.label)))
def test_says_what_is_pytorchs(case: Case, device: Device, store: Store) -> None:
    seen = verdict(case, problem(case.problem), device, store)
    assert seen.ok, (seen.status, seen.feedback)
    assert seen.ownership and seen.ownership.label == case.label


@pytest.mark.gpu
@pytest.mark.parametrize("case", _params(CASES))
def test_passes_on_the_gpu(case: Case, store: Store) -> None:
    seen = verdict(case, problem(case.problem), detect_device(None), store)
    assert seen.ok, (seen.status, seen.feedback)
    assert seen.ownership and seen.ownership.label == (case.label or "triton"), seen.ownership
    assert seen.timing and seen.timing.median_ms > 0


def test_there_are_enough_of_them() -> None:
    files = {path.stem for path in (Path(__file__).parent / "kernels").glob("*.py")}
    assert files == {case.name for case in CASES} and len(files) >= 25
    assert len(CASES) + len(library()) >= 60
