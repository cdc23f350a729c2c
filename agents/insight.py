"""What the verdict on the kernel in force tells of its bottlenecks, without another look at the GPU."""

from egg.state.ceilings import Ceilings
from egg.state.profile import Profile
from egg.state.run import AgentState
from egg.tools.ceilings import ceilings
from egg.tools.diagnosis import diagnose
from egg.tools.store import Store
from egg.tools.verdict_profile import of_verdict

LISTED = 12
"""Bottlenecks that an agent is told, those of the longest kernels."""


def insight(state: AgentState) -> Profile | None:
    """From the traced times of the verdict, or else the estimate; None before there is a verdict."""
    incumbent = state.get("incumbent")
    verdict = incumbent.evaluation if incumbent else None
    profile = of_verdict(verdict) if verdict else None
    if profile is None:
        return None
    device, policy = state["device"], state["settings"].policy
    found = diagnose(profile, state["workload"], device, policy, reached(state))
    return found.model_copy(update={"bottlenecks": found.bottlenecks[:LISTED]})


def reached(state: AgentState) -> Ceilings:
    """What the run's GPU reaches at best."""
    return Store(state["run_dir"]).witness("ceilings", {}, Ceilings, lambda: ceilings(state["device"]))
