"""Records that must not be able to say something untrue."""

import json

import pytest
from pydantic import ValidationError

from egg.state.candidate import Candidate
from egg.state.evaluation import Accuracy, Evaluation, Speedup, StaticProfile, Status, Timing
from egg.state.settings import Limits
from egg.state.usage import Spend, Usage

TIMING = Timing(median_ms=2.0, p20_ms=1.9, p80_ms=2.1, samples=100)


def test_a_failed_candidate_has_no_time():
    with pytest.raises(ValidationError, match="has no timing"):
        Evaluation(status=Status.MISMATCH, mode="gpu", timing=TIMING)


def test_an_unknown_field_is_refused():
    with pytest.raises(ValidationError):
        Timing(median_ms=1, p20_ms=1, p80_ms=1, samples=1, mean_ms=1)  # type: ignore[call-arg]


def test_faster_needs_the_whole_interval():
    assert not Speedup(baseline="eager", ratio=1.2, low=0.99, high=1.4).proven
    assert Speedup(baseline="eager", ratio=1.2, low=1.01, high=1.4).proven


def test_the_share_of_a_budget_that_is_used():
    half, exact, wrong = (Accuracy(case="c", error=e, reference_error=0, budget=b) for e, b in ((1, 2), (0, 0), (1, 0)))
    assert (half.used, exact.used, wrong.used) == (0.5, 0.0, float("inf"))


def test_a_measured_time_outranks_the_estimate():
    profile = StaticProfile(target="sm_90", launches=(), estimate_ms=9.0)
    estimated = Evaluation(status=Status.OK, mode="interpreter", profile=profile)
    assert estimated.rank_ms == 9.0
    assert estimated.model_copy(update={"timing": TIMING}).rank_ms == 2.0
    assert Evaluation(status=Status.TIMEOUT, mode="gpu", profile=profile).rank_ms == float("inf")


def test_profiles_of_older_runs_are_read():
    older = {"target": "sm_90", "launches": [], "estimate_ms": 9.0, "bottleneck": "memory"}
    assert StaticProfile.model_validate(older) == StaticProfile.model_validate_json(json.dumps(older))
    assert StaticProfile(**older).torch_ms is None


def test_a_candidate_is_named_by_its_content():
    one, other = (Candidate(source="x", origin=o, structure="s") for o in ("seed-1", "tiling"))
    assert one.id == other.id
    assert len(one.id) == 12


@pytest.mark.parametrize(
    ("usage", "minutes", "cap"),
    [
        (Usage(), 0.0, None),
        (Usage(by_agent={"a": Spend(calls=3)}), 0.0, "model calls"),
        (Usage(by_agent={"a": Spend(input_tokens=60, output_tokens=40)}), 0.0, "tokens"),
        (Usage(), 2.0, "wall time"),
    ],
)
def test_caps(usage, minutes, cap):
    reached = usage.over(Limits(calls=3, tokens=100, minutes=2), minutes)
    assert reached is None if cap is None else cap in reached
