"""What a stage decides, and that its ledger line says it."""

import pytest

from egg.graph.decide import accepts, attempt, decision
from egg.graph.stages import MAPPING, SEED
from egg.state.evaluation import Status
from egg.state.ledger import Verb
from egg.state.plan import Plan
from tests.graph.make import candidate, stage_state


@pytest.mark.parametrize(
    ("estimate_ms", "accepted"),
    [(0.97, True), (0.985, False), (1.0, False), (1.5, False)],
)
def test_a_gain_below_the_noise_is_not_kept(estimate_ms, accepted):
    incumbent = candidate(origin="seed-1", estimate_ms=1.0)
    assert accepts(MAPPING, incumbent, candidate(source="new", estimate_ms=estimate_ms)) is accepted


def test_a_broken_draft_is_never_kept():
    assert not accepts(SEED, None, candidate(status=Status.MISMATCH))
    assert accepts(SEED, None, candidate())


def line(**changes):
    return decision(stage_state(**changes))


def tried(draft, change):
    return attempt(draft, Plan(worth_it=True, change=change), 0)


def test_kept():
    new = candidate(source="new", estimate_ms=0.5).model_copy(update={"rationale": "rows per program 1 -> 4"})
    kept = line(incumbent=new, attempts=(tried(new, "rows per program 1 -> 4"),))
    assert (kept.verb, kept.what, kept.kernel) == (Verb.KEPT, "rows per program 1 -> 4", new.id)
    assert "estimated for sm_90" in kept.evidence


def test_rolled_back_names_what_was_tried():
    slow = candidate(source="slow", estimate_ms=2.0)
    rolled = line(attempts=(tried(slow, "persistent"),))
    assert rolled.verb is Verb.ROLLED_BACK
    assert rolled.what == "persistent"
    assert rolled.tried == (f"{slow.id} ok 2 ms: persistent",)


def test_skipped_says_why():
    skipped = line(plan=Plan(worth_it=False, why="at 95 % of the roofline", bottleneck="memory"))
    assert (skipped.verb, skipped.why) == (Verb.SKIPPED, "at 95 % of the roofline")


def test_failed_names_the_verdict():
    broken = candidate(origin="seed-1", status=Status.MISMATCH)
    failed = line(spec=SEED, branch="seed-1", incumbent=None, attempts=(attempt(broken, None, 0),))
    assert failed.verb is Verb.FAILED
    assert failed.why == "mismatch: first line"
    assert failed.kernel is None
    assert failed.tried == (f"{broken.id} mismatch: one_pass (first line)",)
