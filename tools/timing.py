"""How long the reference and a candidate take on the GPU, and whether the difference is real.

Cold second-level cache, several input sets in turn, medians, both sides interleaved in processes of their own, an
interval from whole rounds, a second clock, a floor. Not done yet: looking at the outputs of timed calls, and throwing
away samples for which the GPU's clock had dropped.
"""

from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

from egg.state.conditions import Conditions
from egg.state.device import Device
from egg.state.errors import MachineError
from egg.state.evaluation import Baseline, Speedup, Status, Timing
from egg.state.problem import Problem, Workload
from egg.state.settings import Policy
from egg.tools.errors import CandidateError
from egg.tools.interleave import Samples, Side, sessions
from egg.tools.roofline import floor_ms, roofline_ms
from egg.tools.statistics import ratio_of_medians, summary
from egg.tools.store import Store
from egg.tools.workload import analyse

VERSION = 1
EAGER, COMPILE, CANDIDATE = "eager", "compile", "candidate"
THOROUGH_SESSIONS = 3
GAP_MS, GAP_SHARE = 0.03, 0.2


class Measurement(NamedTuple):
    """What is known of a candidate's speed; fields of an `Evaluation`, but for the trace."""

    timing: Timing
    speedups: tuple[Speedup, ...]
    conditions: Conditions
    trace: dict[str, Any] | None = None
    """What the candidate's process says a forward pass does on the GPU, for `share.read_trace`."""


def measure_baseline(problem: Problem, workload: Workload, device: Device, policy: Policy, store: Store) -> Baseline:
    """Eager and torch.compile under the policy, kept by content; the roofline alone where no GPU is present.

    Raises:
        MachineError: the reference cannot be timed here.
    """
    least, bound = roofline_ms(workload, device, policy)
    if not device.present:
        note = f"no GPU here: nothing is measured, {device.name} is compiled for"
        return Baseline(roofline_ms=least, bound=bound, note=note)

    def produce() -> Baseline:
        eager, compiled, note = _time_reference(problem, device, policy)
        return Baseline(eager=eager, compiled=compiled, roofline_ms=least, bound=bound, note=note)

    key = {
        "problem": problem.digest,
        "policy": policy.value,
        "gpu": [device.uuid, device.driver, device.software],
        "roofline": [least, bound],
        "version": VERSION,
    }
    return store.get("baseline", key, Baseline, produce)


def compare(
    problem: Problem, source: str, device: Device, policy: Policy, store: Store, *, thorough: bool = False
) -> Measurement:
    """Time a candidate beside eager; `thorough` adds torch.compile and repeats all of it in fresh processes.

    Raises:
        CandidateError: the candidate fails, or its time cannot be one.
        MachineError: no GPU, or the reference cannot be timed.
    """
    if not device.present:
        raise MachineError(f"{device.name} is not in this machine: nothing can be measured")
    floor = floor_ms(analyse(problem, policy, store), device)
    sides = {EAGER: Side(), CANDIDATE: Side(source=source, traced=True)}
    if thorough:
        sides[COMPILE] = Side(compiled=True)
    try:
        taken = sessions(problem, sides, device, policy, count=THOROUGH_SESSIONS if thorough else 1)
    except MachineError:
        if sides.pop(COMPILE, None) is None:
            raise
        taken = sessions(problem, sides, device, policy, count=THOROUGH_SESSIONS)
    conditions = Conditions(sessions=THOROUGH_SESSIONS if thorough else 1, rounds=0)
    return Measurement(*conclude(taken, floor), conditions, taken[CANDIDATE][0].trace)


def conclude(taken: dict[str, list[Samples]], floor: float) -> tuple[Timing, tuple[Speedup, ...]]:
    """The candidate's time and its speedup over each other side.

    Raises:
        CandidateError: the time is below `floor` milliseconds, or work goes on after the events say it has ended.
    """
    candidate = [samples.rounds for samples in taken[CANDIDATE]]
    timing = summary(candidate)
    if timing.median_ms < floor <= _summary(taken, EAGER).median_ms:  # else the reference needs fewer bytes itself
        said = f"{timing.median_ms:.4f} ms is less than the {floor:.4f} ms that moving the data alone takes"
        raise CandidateError(Status.CHEAT, f"{said}: the work is not done when it is timed")
    excess = _gap(taken[CANDIDATE]) - _gap(taken[EAGER])
    if excess > max(GAP_MS, GAP_SHARE * timing.median_ms):
        said = f"{excess:.4f} ms of work go on after the forward pass's events have ended"
        raise CandidateError(Status.CHEAT, f"{said}: it runs on another stream")
    others = [name for name in (EAGER, COMPILE) if name in taken]
    return timing, tuple(_speedup(name, taken, candidate) for name in others)


def _speedup(name: str, taken: dict[str, list[Samples]], candidate: list[list[list[float]]]) -> Speedup:
    ratio, low, high = ratio_of_medians([samples.rounds for samples in taken[name]], candidate)
    return Speedup(baseline=name, ratio=ratio, low=low, high=high)


def _gap(taken: Sequence[Samples]) -> float:
    """Median of what the host's clock shows beyond the events, for the same calls."""
    return median(host - event for samples in taken for event, host in samples.apart)


def _time_reference(problem: Problem, device: Device, policy: Policy) -> tuple[Timing, Timing | None, str]:
    both = {EAGER: Side(), COMPILE: Side(compiled=True)}
    try:
        taken = sessions(problem, both, device, policy, count=1)
    except MachineError as error:
        taken = sessions(problem, {EAGER: Side()}, device, policy, count=1)
        return _summary(taken, EAGER), None, f"torch.compile was not timed: {error}"
    return _summary(taken, EAGER), _summary(taken, COMPILE), ""


def _summary(taken: dict[str, list[Samples]], name: str) -> Timing:
    return summary([samples.rounds for samples in taken[name]])
