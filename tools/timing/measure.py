"""How long the reference and a candidate take on the GPU, and whether the difference is real.

Cold second-level cache, inputs that change from call to call, medians, all sides interleaved in processes of their
own, an interval from whole processes and rounds. A time is believed beside three things that the candidate's process
does not decide: our own clock around each block, outputs of timed calls, and what the hardware allows.
"""

from collections.abc import Callable, Sequence
from statistics import median, quantiles
from typing import Any, NamedTuple

from egg.state.conditions import Conditions
from egg.state.device import Device
from egg.state.errors import MachineError
from egg.state.evaluation import Baseline, Speedup, Status, Timing
from egg.state.problem import Problem, Workload
from egg.state.settings import Policy
from egg.tools.errors import CandidateError
from egg.tools.roofline import arithmetic_floor_ms, floor_ms, roofline_ms
from egg.tools.store import Store
from egg.tools.timing.conditions import clocks
from egg.tools.timing.interleave import Job, Plan, Taken, sessions
from egg.tools.timing.nvml import reader
from egg.tools.timing.session import CANDIDATE, COMPILE, COMPILE_MAX, EAGER, Samples
from egg.tools.timing.sides import FLUSHES, Side
from egg.tools.timing.statistics import ratio_of_medians, summary
from egg.tools.workload import analyse

VERSION = 4
QUICK = Plan(sessions=1, rounds=10, outputs=5)
THOROUGH = Plan(sessions=3, rounds=10, outputs=3, beside=True)
BASELINES = {
    COMPILE: Side(compiled="default", optional=True),
    COMPILE_MAX: Side(compiled="max-autotune-no-cudagraphs", optional=True, tunes=True, seconds=120),
}
GAP_MS, GAP_SHARE = 0.03, 0.2
UNEXPLAINED_MS, UNEXPLAINED_SHARE = 0.1, 0.3
LAUNCH_MS, LAUNCH_SHARE = 0.5, 1.0
CHARGED_MS = 0.005
CONTENTS = "each call halves a random comb of elements and restores the one before"


class Measurement(NamedTuple):
    """What is known of a candidate's speed; fields of an `Evaluation`, but for the trace."""

    timing: Timing
    speedups: tuple[Speedup, ...]
    conditions: Conditions
    trace: dict[str, Any] | None = None
    """What the candidate's process says a forward pass does on the GPU, for `share.read_trace`."""


class Floors(NamedTuple):
    """Milliseconds that moving the bytes, and that the reference's arithmetic, take at least."""

    moving: float = 0.0
    arithmetic: float = 0.0


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
        job = Job(problem, device, policy, reader(device.uuid))
        taken = sessions(job, {EAGER: Side(), COMPILE: BASELINES[COMPILE]}, QUICK)
        why = taken.left_out.get(COMPILE)
        return Baseline(
            eager=_summary(taken, EAGER),
            compiled=None if why else _summary(taken, COMPILE),
            roofline_ms=least,
            bound=bound,
            note=f"torch.compile was not timed: {why}" if why else "",
        )

    key = {
        "problem": problem.digest,
        "policy": policy.value,
        "gpu": [device.uuid, device.driver, device.software],
        "roofline": [least, bound],
        "version": VERSION,
    }
    return store.get("baseline", key, Baseline, produce)


def compare(
    problem: Problem,
    source: str,
    device: Device,
    policy: Policy,
    store: Store,
    *,
    thorough: bool = False,
) -> Measurement:
    """Time a candidate beside eager; `thorough` adds torch.compile and repeats all of it in fresh processes.

    Raises:
        CandidateError: the candidate fails, its time cannot be one, or a timed call of it was wrong.
        MachineError: no GPU, or the reference cannot be timed.
    """
    others = BASELINES if thorough else {}
    plan = THOROUGH if thorough else QUICK
    return against(problem, source, device, policy, store, others, plan)


def against(
    problem: Problem,
    source: str,
    device: Device,
    policy: Policy,
    store: Store,
    others: dict[str, Side],
    plan: Plan,
) -> Measurement:
    """The same with these baselines beside eager, by this plan."""
    if not device.present:
        raise MachineError(f"{device.name} is not in this machine: nothing can be measured")
    workload = analyse(problem, policy, store)
    floors = Floors(floor_ms(workload, device), arithmetic_floor_ms(workload, device, policy))
    job = Job(problem, device, policy, reader(device.uuid))
    sides = {EAGER: Side(), CANDIDATE: Side(source=source, traced=True, tunes="autotune" in source), **others}
    return conclude(job, sessions(job, sides, plan), floors)


def conclude(job: Job, taken: Taken, floors: Floors) -> Measurement:
    """The candidate's time, its speedup over each other side, and the conditions.

    Raises:
        CandidateError: the time cannot be one.
    """
    after, around = (_excess(taken, clock) for clock in (_gaps, _unexplained))
    before_ms = _summary(taken, CANDIDATE).median_ms
    if after > max(GAP_MS, GAP_SHARE * before_ms):
        said = f"{after:.4f} ms of work go on after the forward pass's events have ended"
        raise CandidateError(Status.CHEAT, f"{said}: it runs on another stream")
    if around > max(UNEXPLAINED_MS, UNEXPLAINED_SHARE * before_ms):
        said = f"calls take {around:.4f} ms more by our own clock than their process reports"
        raise CandidateError(Status.CHEAT, f"{said}: work is done outside the timed calls, or the times are forged")
    covered = _covered(taken, CANDIDATE) - _covered(taken, EAGER)
    if covered > max(LAUNCH_MS, LAUNCH_SHARE * before_ms):
        said = f"calls that are waited for take {covered:.4f} ms more than those that follow other work"
        raise CandidateError(Status.CHEAT, f"{said}: no launch takes so long; the times are forged")
    charged = _charge(taken, after)
    timing, eager_ms = _summary(taken, CANDIDATE), _summary(taken, EAGER).median_ms
    if timing.median_ms < floors.moving <= eager_ms:  # else the reference needs fewer bytes itself
        _not_a_time(timing, floors.moving, "moving the data alone takes")
    fewer = timing.median_ms < floors.arithmetic <= eager_ms
    if fewer and not taken.outputs.checked:
        _not_a_time(timing, floors.arithmetic, "the arithmetic takes, and no output of a timed call could be checked")
    others = [name for name in taken.sides if name != CANDIDATE]
    return Measurement(
        timing,
        tuple(_speedup(name, taken) for name in others),
        Conditions(
            sessions=len(taken.seeds),
            rounds=sum(len(samples.rounds) for samples in taken.sides[CANDIDATE]),
            samples={name: _summary(taken, name).samples for name in taken.sides},
            thrown_away=taken.thrown_away,
            seeds=tuple(taken.seeds),
            flush_bytes=FLUSHES * job.device.l2_bytes,
            input_sets=taken.input_sets,
            contents=CONTENTS,
            clocks=clocks(taken.readings, job.reader.note),
            outputs=taken.outputs,
            gap_ms={name: median(_gaps(side)) for name, side in taken.sides.items()},
            wall_gap_ms={name: median(_unexplained(side)) for name, side in taken.sides.items()},
            charged_ms=charged,
            floor_ms=floors.moving,
            arithmetic_floor_ms=floors.arithmetic,
            fewer_operations=fewer,
            warm_ms=_last(taken, "warm_ms"),
            graph_ms=_last(taken, "graph_ms"),
            left_out=taken.left_out,
            seconds={part: round(spent, 3) for part, spent in taken.seconds.items()},
            notes=tuple(taken.notes),
        ),
        taken.sides[CANDIDATE][0].trace,
    )


def _excess(taken: Taken, clock: Callable[[Sequence[Samples]], list[float]]) -> float:
    """By how much the candidate's calls are longer than their events say, compared with eager's; 0 if not clearly.

    A busy host only ever adds, now to the one and now to the other: it is clear where most calls of the candidate show
    more than nearly all of eager's. Work that is hidden from the median is there in most calls.
    """
    mine, eager = (quantiles(clock(taken.sides[name]), n=5, method="inclusive") for name in (CANDIDATE, EAGER))
    return mine[1] - eager[1] if mine[1] > eager[3] else 0.0


def _charge(taken: Taken, excess: float) -> float:
    """Add to the candidate's times what the device is still busy with after their events, and return it.

    Too little to be called a cheat, it must not be a gain either.
    """
    if excess < CHARGED_MS:
        return 0.0
    for samples in taken.sides[CANDIDATE]:
        samples.rounds = [[time + excess for time in turn] for turn in samples.rounds]
    return excess


def _not_a_time(timing: Timing, floor: float, what: str) -> None:
    said = f"{timing.median_ms:.4f} ms is less than the {floor:.4f} ms that {what}"
    raise CandidateError(Status.CHEAT, f"{said}: the work is not done when it is timed")


def _speedup(name: str, taken: Taken) -> Speedup:
    ratio, low, high = ratio_of_medians(_rounds(taken, name), _rounds(taken, CANDIDATE))
    return Speedup(baseline=name, ratio=ratio, low=low, high=high)


def _gaps(side: Sequence[Samples]) -> list[float]:
    """What the host's clock shows beyond the events, for the same calls."""
    return [host - event for samples in side for event, host in samples.apart]


def _unexplained(side: Sequence[Samples]) -> list[float]:
    """What our own clock shows beyond what was reported."""
    return [gap for samples in side for gap in samples.unexplained]


def _covered(taken: Taken, name: str) -> float:
    """By how much calls that the host waits before are longer: what launching takes it."""
    waited = median(event for samples in taken.sides[name] for event, _ in samples.apart)
    return waited - _summary(taken, name).median_ms


def _rounds(taken: Taken, name: str) -> list[list[list[float]]]:
    return [samples.rounds for samples in taken.sides[name]]


def _summary(taken: Taken, name: str) -> Timing:
    return summary(_rounds(taken, name))


def _last(taken: Taken, what: str) -> dict[str, float]:
    """What the last session took of this, by side."""
    found = {name: getattr(side[-1], what) for name, side in taken.sides.items()}
    return {name: value for name, value in found.items() if value is not None}
