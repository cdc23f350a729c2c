"""Which compiled points are not worth timing. Pure."""

from collections.abc import Mapping

from egg.tools.tune.compiling import Compiled

SPILLS = 32
"""Bytes a thread that may be spilled unless the kernel as it is spills more: a few are harmless."""
HOPELESS = 2.0
"""Times the best estimate: the estimate is not wrong by that much within one kernel."""
DOMINATED = 1.15
"""A point whose estimate is this many times another's, which needs no more of anything, has nothing to gain."""


def pruned(points: Mapping[str, Compiled], start: str) -> dict[str, str]:
    """Why each of these is dropped. The kernel as it is never is."""
    alive = {name: one for name, one in points.items() if not one.failed and one.estimate_ms is not None}
    allowed = max(SPILLS, (points[start].spills or 0) if start in points else 0)
    reasons: dict[str, str] = {}
    for name, one in alive.items():
        if name != start and (one.spills or 0) > allowed:
            reasons[name] = f"spills {one.spills} bytes a thread"
    kept = {name: one for name, one in alive.items() if name not in reasons}
    if not kept:
        return reasons
    best = min(one.estimate_ms or 0.0 for one in kept.values())
    for name, one in kept.items():
        if name == start:
            continue
        times = (one.estimate_ms or 0.0) / best if best else 1.0
        if times > HOPELESS:
            reasons[name] = f"predicted to take {times:.1f} times the best point's time"
        elif any(_dominates(other, one) for other in kept.values()):
            reasons[name] = "dominated: another point is predicted faster and needs no more of anything"
    return reasons


def _dominates(one: Compiled, other: Compiled) -> bool:
    return (
        (one.estimate_ms or 0.0) * DOMINATED < (other.estimate_ms or 0.0)
        and (one.registers or 0) <= (other.registers or 0)
        and (one.shared_bytes or 0) <= (other.shared_bytes or 0)
        and (one.spills or 0) <= (other.spills or 0)
        and (one.occupancy or 0.0) >= (other.occupancy or 0.0)
    )
