"""How concurrent writes to a state channel become one value. Pure functions; each is order-independent."""

from egg.state.candidate import Attempt, Candidate
from egg.state.ledger import Decision
from egg.state.usage import Usage

Ledger = tuple[Decision, ...]
Attempts = tuple[Attempt, ...]


def append_decisions(ledger: Ledger, new: Ledger) -> Ledger:
    """Add decisions; those already in force can be neither changed nor dropped.

    The order is that of the stages, so it does not matter which parallel seed reports first.

    Raises:
        ValueError: if a stage that has decided decides otherwise.
    """
    merged = {decision.key: decision for decision in ledger}
    for decision in new:
        if merged.setdefault(decision.key, decision) != decision:
            raise ValueError(f"{decision.stage} has decided already")
    return tuple(merged[key] for key in sorted(merged))


def keep_better(one: Candidate | None, other: Candidate | None) -> Candidate | None:
    """The better ranked of two candidates; ties go to the smaller id, so that the choice is total and repeatable.

    This is the pruning at a stage's boundary: losers are dropped, the incumbent never is.
    """
    candidates = [candidate for candidate in (one, other) if candidate is not None]
    return min(candidates, key=lambda candidate: (candidate.rank_ms, candidate.model_dump_json()), default=None)


def merge_attempts(attempts: Attempts, new: Attempts) -> Attempts:
    """Set union, sorted: what is left of a candidate after its stage is one line."""
    return tuple(sorted({*attempts, *new}, key=lambda a: (a.origin, a.number, a.model_dump_json())))


def add_usage(usage: Usage, new: Usage) -> Usage:
    """Sum per stage and agent."""
    return usage + new


def later(one: int, other: int) -> int:
    """The larger of two clock readings. (LangGraph needs a reducer's signature; the builtin `max` has none.)"""
    return max(one, other)
