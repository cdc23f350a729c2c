"""How concurrent writes to a state channel become one value. Pure functions; each is order-independent."""

from egg.state.candidate import Attempt, Candidate
from egg.state.ledger import Decision
from egg.state.usage import Spend, Usage

Ledger = tuple[Decision, ...]
Attempts = tuple[Attempt, ...]
Seeds = dict[str, Candidate]


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


def merge_seeds(seeds: Seeds, new: Seeds) -> Seeds:
    """Union by branch; of two candidates for one branch the better ranked stays, then the smaller id."""
    merged = dict(seeds)
    for branch, candidate in new.items():
        merged[branch] = better(merged.get(branch), candidate)
    return {branch: merged[branch] for branch in sorted(merged)}


def better(one: Candidate | None, other: Candidate) -> Candidate:
    """The faster of two candidates; ties go to the smaller id, so that the choice is total and repeatable."""
    if one is None:
        return other
    return min(one, other, key=lambda candidate: (candidate.rank_ms, candidate.id, candidate.origin))


def merge_attempts(attempts: Attempts, new: Attempts) -> Attempts:
    """Set union, sorted: what is left of a candidate after its stage is one line."""
    return tuple(sorted({*attempts, *new}, key=lambda attempt: attempt.model_dump_json()))


def add_usage(usage: Usage, new: Usage) -> Usage:
    """Sum per stage and agent."""
    names = sorted({*usage.by_agent, *new.by_agent})
    return Usage(by_agent={n: usage.by_agent.get(n, Spend()) + new.by_agent.get(n, Spend()) for n in names})
