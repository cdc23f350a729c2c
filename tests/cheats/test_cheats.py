"""Kernels that are wrong, or that only pretend, and the verdict each must get: from the numbers, and from the judge.

The table is `corpus.toml`. Where a machine has no GPU all of it that an interpreter can show is run; the rest is for
`-m gpu`. `python -m egg.evals.trust` runs both halves and counts.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from egg.evals.corpus import Case, corpus, left_behind, named
from egg.evals.trial import numbers, timed_honestly, verdict
from egg.state.device import Device
from egg.state.evaluation import Evaluation, Status
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.correctness.verify import check, probe
from egg.tools.device import detect_device
from egg.tools.gate import refusal
from egg.tools.problem import load_problem
from egg.tools.sandbox.client import shutdown
from egg.tools.store import Store

CASES = corpus("cheats")
HACKS = set(range(1, 35))
INPUTS = set(range(1, 13))
THE_JUDGE_TOO = ("control_scaled_add", "zeros", "torch_with_decoy", "torch_alone", "falls_back", "no_model")
"""Beside those for which the table expects another verdict of the judge, or may be excused by it."""


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


def scaled_add() -> Problem:
    return problem(named("cheats", "control_scaled_add").problem)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "run", tmp_path / "cache")


def _params(cases: list[Case]) -> list[object]:
    return [pytest.param(case, id=case.name, marks=[pytest.mark.slow] if case.slow else []) for case in cases]


def on_cpu(case: Case) -> bool:
    return case.runs_on("interpreter")


def missed(case: Case, seen: Evaluation, *, read: bool) -> str:
    """What is wrong with a verdict, or an empty string."""
    wanted = case.wanted(read=read)
    if seen.status in wanted or case.excused(seen):
        return ""
    return f"{seen.status} in place of {', '.join(wanted)}: {seen.feedback}"


@pytest.mark.parametrize("case", _params([c for c in CASES if on_cpu(c) and c.expected]))
def test_numbers_tell(case: Case, device: Device, store: Store) -> None:
    if case.label:  # which the check alone does not tell
        seen = verdict(case, problem(case.problem), device, store, read=False)
    else:
        seen = numbers(case, problem(case.problem), device, store)
    assert seen.mode == "interpreter"
    assert not missed(case, seen, read=False)
    assert not left_behind(case)


@pytest.mark.parametrize("case", _params([c for c in CASES if on_cpu(c) and (c.judge or c.name in THE_JUDGE_TOO)]))
def test_the_judge_tells(case: Case, device: Device, store: Store) -> None:
    seen = verdict(case, problem(case.problem), device, store)
    assert not missed(case, seen, read=True)
    assert seen.timing is None and not seen.speedups
    assert not left_behind(case)


@pytest.mark.gpu
@pytest.mark.parametrize("read", [False, True], ids=["unread", "read"])
@pytest.mark.parametrize("case", _params([c for c in CASES if c.runs_on("gpu")]))
def test_the_gpu_tells(case: Case, read: bool, store: Store) -> None:
    device = detect_device(None)
    if not case.wanted(read=read):
        pytest.skip("the numbers alone cannot tell")
    seen = verdict(case, problem(case.problem), device, store, read=read)
    assert not missed(case, seen, read=read) or timed_honestly(case, seen, problem(case.problem), device, store)
    assert not left_behind(case)


def test_the_table_covers_every_hack_and_input() -> None:
    assert {number for case in CASES for number in case.hacks} == HACKS
    assert {number for case in CASES for number in case.inputs} == INPUTS
    files = {path.stem for path in (Path(__file__).parent / "kernels").iterdir() if path.suffix in (".py", ".txt")}
    assert files == {case.name for case in CASES}


def test_a_syntax_error_names_its_line() -> None:
    refused = refusal(named("cheats", "syntax_error").source)
    assert refused and refused.status is Status.COMPILE_ERROR and "line 3" in refused.feedback


def test_feedback_says_where(device: Device, store: Store) -> None:
    def said(name: str) -> str:
        return check(scaled_add(), named("cheats", name).source, device, Policy.STOCK, store).feedback

    assert "5..6 of dimension 0" in said("no_tail") and "tail" in said("no_tail")
    assert "parameters differ" in said("own_weights")
    assert "line 13" in said("no_mask") and "mask is missing" in said("no_mask")
    told = said("talks_to_the_reader")
    assert len(told) < 4000


def test_a_verdict_is_worked_out_once(device: Device, store: Store) -> None:
    case = named("cheats", "control_scaled_add")
    first = verdict(case, scaled_add(), device, store)
    journal = (store.run_dir / "journal.jsonl").read_text()
    assert verdict(case, scaled_add(), device, store) == first
    assert (store.run_dir / "journal.jsonl").read_text() == journal
    assert first.profile is not None and first.rank_ms == first.profile.estimate_ms


def test_a_probe_shows_both_sides(device: Device) -> None:
    seen = probe(scaled_add(), named("cheats", "zeros").source, device, Policy.STOCK, "ones")
    assert seen["status"] == "mismatch" and "all zeros" in seen["feedback"]
    (output,) = seen["outputs"]
    assert output["candidate"]["first"] == [0.0] * 8 and output["expected"]["first"] != [0.0] * 8


def test_the_next_honest_kernel_passes(device: Device, store: Store) -> None:
    case = named("cheats", "control_scaled_add")
    for name in ("kills_parents_group", "crashes", "memory_bomb"):
        numbers(named("cheats", name), scaled_add(), device, store)
        assert numbers(case, scaled_add(), device, Store(store.run_dir, store.cache / name)).ok
