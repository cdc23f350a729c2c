"""One kernel of a corpus before the real judge."""

from egg.evals.corpus import Case, named
from egg.state.device import Device
from egg.state.evaluation import Evaluation, Status
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.correctness.verify import Depth, check
from egg.tools.judge import judge
from egg.tools.store import Store

HONEST_SHARE = 0.9
"""Least time of a trick's kernel over that of the same kernel without it, for its time to count as honest."""


def numbers(
    case: Case, problem: Problem, device: Device, store: Store, *, policy: Policy = Policy.STOCK, seconds: float = 0.0
) -> Evaluation:
    """What comes of running it, without a look at its source.

    Raises:
        MachineError: the judge itself failed.
    """
    depth: Depth = "confirm" if case.held_out else "search"
    return check(problem, case.source, device, policy, store, cases=depth, seconds=seconds or case.seconds)


def verdict(
    case: Case,
    problem: Problem,
    device: Device,
    store: Store,
    *,
    policy: Policy = Policy.STOCK,
    read: bool = True,
) -> Evaluation:
    """What the whole judge says; without `read` the source is not looked at.

    One that runs into its time limit is only run, with the limit of its own: the judge's are minutes.

    Raises:
        MachineError: the judge itself failed.
    """
    if Status.TIMEOUT in case.expected:
        return numbers(case, problem, device, store, policy=policy)
    return judge(problem, case.source, device, policy, store, confirm=bool(case.held_out), read=read)


def timed_honestly(case: Case, seen: Evaluation, problem: Problem, device: Device, store: Store) -> bool:
    """Whether a trick that aims at the clock missed: it is right, and no faster than its honest twin."""
    if not (case.twin and seen.ok and seen.timing):
        return False
    twin = verdict(named("cheats", case.twin), problem, device, store)
    return bool(twin.timing and seen.timing.median_ms >= HONEST_SHARE * twin.timing.median_ms)
