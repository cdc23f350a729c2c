"""The error budget: sound methods always pass, sloppy ones show on some inputs, and single faults are not drowned."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from egg.tools.tasks.budget import Errors, judge_values
from egg.tools.tasks.cases import DRAW
from egg.tools.tasks.reference import ROUNDING
from tests.tools.tasks.methods import SLOPPY, SOUND, Method

KINDS = ("uniform", "normal", "heavy", "integers", "large", "rows")
seeds = st.integers(0, 2**32 - 1)


def judged(method: Method, kind: str, seed: int) -> Errors:
    generator = torch.Generator().manual_seed(seed)
    inputs = [DRAW[kind](torch.Size(shape), generator) for shape in method.shapes]
    nudge = [x.double() * (1 + ROUNDING * (torch.randint(0, 2, x.shape, generator=generator) * 2 - 1)) for x in inputs]
    exact, moved = (method.reference(*(x.double() for x in values)) for values in (inputs, nudge))
    strict = kind == "rows"
    return judge_values(method.candidate(*inputs), method.reference(*inputs), exact, moved, strict=strict)


def kinds_for(method: Method) -> tuple[str, ...]:
    return KINDS if method.scales else KINDS[:-1]


@pytest.mark.parametrize("name", SOUND)
@settings(max_examples=2, deadline=None)
@given(seed=seeds)
def test_sound_methods_pass(name: str, seed: int) -> None:
    for kind in kinds_for(SOUND[name]):
        errors = judged(SOUND[name], kind, seed)
        assert errors.within or errors.judged < 0.5, (kind, errors.error, errors.budget, errors.excess)


@pytest.mark.parametrize("name", SLOPPY)
@settings(max_examples=1, deadline=None)
@given(seed=seeds)
def test_sloppy_methods_show(name: str, seed: int) -> None:
    found = [kind for kind in kinds_for(SLOPPY[name]) if not judged(SLOPPY[name], kind, seed).within]
    assert found


def test_what_only_one_view_shows() -> None:
    """Each of the views is needed: these two methods are right in norm, on every other kind of input too."""
    scale = judged(SLOPPY["fp16x3 with one scale"], "rows", 1)
    assert scale.error < scale.budget and "small rows lose accuracy" in scale.excess
    bias = judged(SLOPPY["truncating accumulator, a quarter as long"], "uniform", 1)
    assert bias.error < bias.budget and "towards zero" in bias.excess


@settings(max_examples=30, deadline=None)
@given(seed=seeds, place=st.integers(0, 4095), factor=st.sampled_from([0.0, 0.99, 1.01, -1.0, torch.inf, torch.nan]))
def test_one_wrong_element_shows(seed: int, place: int, factor: float) -> None:
    exact = torch.randn(64, 64, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    exact.view(-1)[place] = 1.5
    usual = exact.float()
    found = usual.clone()
    found.view(-1)[place] *= factor
    errors = judge_values(found, usual, exact)
    assert not errors.within and errors.bad.view(-1).nonzero().flatten().tolist() == [place]


def test_infinity_and_nan_must_be_where_the_reference_has_them() -> None:
    exact = torch.tensor([1.0, torch.inf, -torch.inf, torch.nan] * 16, dtype=torch.float64)
    usual = exact.float()
    assert judge_values(usual.clone(), usual, exact).within
    for place in range(4):
        found = usual.clone()
        found[place] = torch.nan if place < 3 else 1.0
        assert judge_values(found, usual, exact).bad.nonzero().flatten().tolist() == [place]


def test_where_the_reference_overflows_and_exact_arithmetic_does_not_anything_goes() -> None:
    exact = torch.tensor([1.0, 1e60] * 32, dtype=torch.float64)
    usual = exact.float()
    found = usual.clone()
    found[1::2] = 3.0
    errors = judge_values(found, usual, exact)
    assert errors.within and errors.judged == 0.5


def test_a_chaotic_reference_is_no_licence() -> None:
    exact = torch.randn(1000, dtype=torch.float64)
    usual = torch.randn(1000)
    errors = judge_values(torch.randn(1000), usual, exact)
    assert errors.budget == 0.25 and not errors.within


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_judged_by_its_own_rounding(dtype: torch.dtype) -> None:
    x = torch.randn(64, 256, dtype=torch.float64).to(dtype)
    exact = torch.softmax(x.double(), -1)
    usual = torch.softmax(x, -1)
    assert judge_values(torch.softmax(x.float(), -1).to(dtype), usual, exact).within
    assert not judge_values((exact * 1.05).to(dtype), usual, exact).within


def test_integers_are_right_or_wrong() -> None:
    right = torch.arange(100)
    assert judge_values(right.clone(), right, right).within
    wrong = right.clone()
    wrong[7] += 1
    assert judge_values(wrong, right, right).bad.nonzero().flatten().tolist() == [7]


def test_chunks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = torch.Generator().manual_seed(3)
    exact = torch.randn(50, 8, 9, generator=generator, dtype=torch.float64)
    usual, found = exact.float(), exact.float() * (1 + 1e-4 * torch.randn(50, 8, 9, generator=generator))
    whole = judge_values(found, usual, exact)
    monkeypatch.setattr("egg.tools.tasks.budget.CHUNK", 100)
    parts = judge_values(found, usual, exact)
    assert parts.error == pytest.approx(whole.error, rel=1e-12) and torch.equal(parts.bad, whole.bad)
    assert parts.budget == pytest.approx(whole.budget, rel=1e-12)
