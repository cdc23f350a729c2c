"""When a tuning stage need not pay for an opinion: its own instruments say that there is nothing to gain."""

from typing import cast

from egg.agents.insight import insight
from egg.state.run import AgentState, StageState
from egg.tools.diagnosis import nothing_left
from egg.tools.expert import spec_of


def unasked(state: StageState) -> str | None:
    """Why the stage's agents are not asked; None if they are.

    They are not where the kernel is measured at its ceiling, nor where the machine search has gone over every decision
    that the expert library leaves to the stage and what holds the kernel back is decided in another one. They are asked
    about every kernel that is not the library's, after a choice that the judge turned down, and when a person hints.
    """
    incumbent, searched, spec = state["incumbent"], state.get("searched"), state["spec"]
    if incumbent is None or searched is None or state.get("hints"):
        return None
    if any(attempt.rank_ms is None for attempt in state.get("attempts", ()) if attempt.origin == state["branch"]):
        return None
    known = insight(cast(AgentState, state))
    if known is None:
        return None
    if why := nothing_left(known.bottlenecks, known.headroom, spec.group, spec.min_gain):
        return why
    elsewhere = sorted({bottleneck.stage for bottleneck in known.bottlenecks if bottleneck.stage})
    if not elsewhere or spec.group in elsewhere or spec_of(incumbent.source) is None:
        return None
    return f"{searched.told}; what holds it back is decided in {' and '.join(elsewhere)}"
