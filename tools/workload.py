"""What a problem computes, and in how many ways: read from a trace, in a child."""

from egg.state.problem import Problem, Workload
from egg.state.settings import Policy
from egg.tools.expert import library_version
from egg.tools.sandbox.client import Bounds, run
from egg.tools.store import Store

VERSION = 2


def analyse(problem: Problem, policy: Policy, store: Store) -> Workload:
    """The workload at full size; nothing of that size is allocated.

    Raises:
        MachineError: the child failed, which a problem that loads should never make it do.
    """
    payload = {"source": problem.source, "small_source": problem.small_source, "policy": policy.value}

    def produce() -> Workload:
        reply = run("egg.tools.tasks.analyse:run", payload, Bounds(seconds=180))
        return Workload.model_validate(reply.require(f"{problem.name}: could not be analysed"))

    return store.get("workload", {**payload, "library": library_version(), "version": VERSION}, Workload, produce)
