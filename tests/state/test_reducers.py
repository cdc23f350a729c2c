"""Reducers: joins do not depend on the order of branches, and nothing that was decided is ever lost."""

from functools import reduce
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egg.state.candidate import Attempt, Candidate
from egg.state.evaluation import Evaluation, Status, Timing
from egg.state.ledger import Decision, Verb
from egg.state.reducers import add_usage, append_decisions, keep_better, merge_attempts
from egg.state.usage import Spend, Usage

texts = st.text("abc", min_size=1, max_size=3)
decisions = st.builds(
    Decision,
    step=st.integers(1, 4),
    stage=texts,
    verb=st.sampled_from(Verb),
    what=texts,
    why=texts,
    evidence=texts,
)
ledgers = st.lists(decisions, max_size=6, unique_by=lambda d: d.key).map(tuple)


@st.composite
def candidates(draw: st.DrawFn) -> Candidate:
    median = draw(st.sampled_from([None, 1.0, 2.0, 3.0]))
    timing = median and Timing(median_ms=median, p20_ms=median, p80_ms=median, samples=1)
    status = Status.OK if timing else draw(st.sampled_from([Status.OK, Status.MISMATCH]))
    evaluation = draw(st.sampled_from([None, Evaluation(status=status, mode="gpu", timing=timing or None)]))
    return Candidate(source=draw(texts), origin=draw(texts), structure="s", evaluation=evaluation)


attempts = st.lists(st.builds(Attempt, id=texts, origin=texts, number=st.integers(0, 3), status=texts), max_size=5).map(
    tuple
)
spends = st.builds(Spend, calls=st.integers(0, 9), input_tokens=st.integers(0, 9), model_ms=st.integers(0, 9))
usages = st.builds(Usage, by_agent=st.dictionaries(texts, spends, max_size=3))


def folds(reducer, start, writes):
    """The result of every order in which the writes can arrive."""
    return [reduce(reducer, order, start) for order in permutations(writes)]


@given(ledgers)
def test_ledger_join_is_order_independent(ledger):
    results = folds(append_decisions, (), [(d,) for d in ledger[:4]])
    assert all(result == results[0] for result in results)


@given(ledgers, ledgers)
def test_ledger_only_grows(ledger, new):
    fresh = tuple(d for d in new if d.key not in {old.key for old in ledger})
    merged = append_decisions(append_decisions((), ledger), fresh)
    assert set(merged) == {*ledger, *fresh}
    assert [d.key for d in merged] == sorted(d.key for d in merged)


@given(ledgers.filter(bool))
def test_a_decision_cannot_be_rewritten(ledger):
    changed = ledger[0].model_copy(update={"what": ledger[0].what + "!"})
    with pytest.raises(ValueError, match="has decided already"):
        append_decisions(ledger, (changed,))
    assert append_decisions(append_decisions((), ledger), ledger) == append_decisions((), ledger)


@given(st.lists(candidates(), max_size=4))
def test_incumbent_join_is_order_independent_and_keeps_the_best(branch_results):
    results = folds(keep_better, None, branch_results)
    assert all(result == results[0] for result in results)
    if branch_results:
        assert results[0] is not None
        assert results[0].rank_ms == min(c.rank_ms for c in branch_results)


@given(candidates())
def test_pruning_never_drops_the_incumbent(incumbent):
    assert keep_better(incumbent, None) == incumbent
    assert keep_better(None, incumbent) == incumbent
    assert keep_better(incumbent, incumbent) == incumbent


@given(st.lists(attempts, max_size=4))
def test_attempts_are_a_set_union(branch_attempts):
    results = folds(merge_attempts, (), branch_attempts)
    assert all(result == results[0] for result in results)
    assert set(results[0]) == {a for group in branch_attempts for a in group}


@given(st.lists(usages, max_size=4))
def test_usage_adds_up_in_any_order(branch_usages):
    results = folds(add_usage, Usage(), branch_usages)
    assert all(result == results[0] for result in results)
    assert results[0].total.calls == sum(u.total.calls for u in branch_usages)
