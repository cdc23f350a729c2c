"""Is a candidate right? It runs in one child and never sees what is expected; a trusted child compares its outputs."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from egg.state.device import Device
from egg.state.evaluation import Accuracy, Evaluation
from egg.state.fault import HeldOut
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.state.status import Status
from egg.tools.correctness.again import once_more
from egg.tools.correctness.failure import faults_of
from egg.tools.correctness.heldout import held_out
from egg.tools.correctness.same_work import require_same
from egg.tools.correctness.step import LARGE_BYTE, NAN_BYTE, Step
from egg.tools.correctness.trial import Trial
from egg.tools.errors import CandidateError
from egg.tools.problem import sized_candidate, sized_source
from egg.tools.share import no_work, witnessed
from egg.tools.store import Store

Depth = Literal["search", "quick", "confirm"]
VERSION = 6
SECONDS = 120.0
SLOW_S: dict[Depth, float] = {"quick": 2.0, "search": 0.4, "confirm": 2.0}
"""A forward pass in the interpreter that takes longer is not run for the sake of every finding. A search leaves to the
confirmation what it can."""
CHEAP_S = 0.25
"""One that takes less is repeated more often."""
REPEATS = 3
DRAWS = 8


@dataclass(frozen=True)
class Findings:
    """What a check that passed has shown."""

    accuracy: tuple[Accuracy, ...]
    feedback: str
    deterministic: bool | None
    held_out: tuple[HeldOut, ...] = ()
    work: tuple[str, ...] = ()
    """What its calls were seen to do, where no GPU traces them."""


def check(
    problem: Problem,
    source: str,
    device: Device,
    policy: Policy,
    store: Store,
    *,
    cases: Depth = "search",
    seconds: float = SECONDS,
) -> Evaluation:
    """Correctness alone: at full size on the GPU, or at the small size in Triton's interpreter.

    `seconds` bounds all runs of the candidate together; held-out sizes have as much again.

    Raises:
        UserError: no GPU, and no small size.
        MachineError: the trusted side failed, or the reference needs more memory than there is.
    """

    def produce() -> Evaluation:
        try:
            sized = sized_candidate(problem, source, device)
            small = sized_source(problem, device)
            found = once_more(lambda: examine(small, sized, device, policy, cases, seconds))
            beyond = held_out(problem, source, device, policy, seconds) if cases == "confirm" else ()
        except CandidateError as error:
            return Evaluation(status=error.status, feedback=error.feedback, faults=error.faults, mode=mode(device))
        return Evaluation(
            status=Status.OK,
            feedback="\n".join(part for part in (found.feedback, *map(_told, beyond)) if part),
            mode=mode(device),
            accuracy=found.accuracy,
            deterministic=found.deterministic,
            held_out=(*found.held_out, *beyond),
            ownership=None if device.present else witnessed(found.work),
        )

    key = {
        "problem": problem.digest,
        "sizes": sha256(sized_source(problem, device).encode()).hexdigest(),
        "source": source,
        "policy": policy.value,
        "gpu": [device.uuid, device.driver] if device.present else None,
        "software": device.software,
        "cases": cases,
        "seconds": seconds,
        "version": VERSION,
    }
    return store.get("check", key, Evaluation, produce, lasting=lambda found: found.status is not Status.TIMEOUT)


def probe(
    problem: Problem, source: str, device: Device, policy: Policy, kind: Literal["ones", "arange", "normal"]
) -> dict[str, Any]:
    """What a candidate and the reference give for inputs of one kind, side by side, for whoever repairs it.

    `status` and `feedback`, and for each output, if it ran, `place`, `shape`, `candidate` and `expected`: values at
    a few places.
    """
    try:
        sized = sized_candidate(problem, source, device)
        return once_more(lambda: _shown(sized_source(problem, device), sized, device, policy, kind))
    except CandidateError as error:
        return {"kind": kind, "status": error.status.value, "feedback": error.feedback}


def mode(device: Device) -> str:
    """Where candidates run."""
    return "gpu" if device.present else "interpreter"


def _shown(problem: str, source: str, device: Device, policy: Policy, kind: str) -> dict[str, Any]:
    with Trial(problem, source, device, policy, SECONDS, traits=False) as trial:
        return {"kind": kind, **trial.show(Step(kind, kind))}


def examine(
    problem: str, source: str, device: Device, policy: Policy, depth: Depth, seconds: float, *, whole: bool = True
) -> Findings:
    """Every case of a depth, for texts of one size. Without `whole` whose work it is, is not asked.

    Raises:
        CandidateError: the candidate is wrong.
        MachineError: the trusted side failed.
    """
    with Trial(problem, source, device, policy, seconds, traits=depth != "quick") as trial:
        first = Step("own (1)", "own")
        if trial.random:
            trial.draws(first, DRAWS)
            trial.draws(Step("normal (2)", "normal"), DRAWS)
            same, slow = None, False
        else:
            trial.run([first])
            slow = not device.present and trial.call_s > SLOW_S[depth]
            trial.run(_steps(depth, trial, slow))
            same = _repeats(trial, first, slow)
        replay = trial.replay(first) if whole else None
        if trial.tampered:
            raise CandidateError(Status.CHEAT, f"the candidate replaces {', '.join(trial.tampered)}")
        if shown := no_work(replay, trial.launches):
            raise shown
        if whole and not device.present:
            require_same(problem, source, policy, trial.work)
        # Last, since a child whose forward pass raised answers no more.
        layouts = _strided(trial) if depth == "confirm" and not (slow or trial.random or trial.big) else ()
        work = tuple(sorted(frozenset[str]().union(*trial.work)))
        return Findings(_accuracies(trial), _notes(trial, depth), same, layouts, work)


def _steps(depth: Depth, trial: Trial, slow: bool) -> list[Step]:
    """The calls after the first, most telling first. Each has a secret seed of its own."""
    if trial.big:
        few = ("normal",) if depth == "quick" else ("normal", "heavy")
        return [Step(f"{kind} ({number} of {len(few) + 1})", kind) for number, kind in enumerate(few, 2)]
    kinds: list[tuple[str, bool]] = [("normal", False)]
    if depth != "quick":
        kinds += [("heavy", True), ("integers", False)]
    if depth != "quick" and not slow:
        kinds += [("large", True)]
    if depth == "confirm":
        kinds += [("uniform", False), ("own", True), ("normal", False), ("heavy", True), ("own", False)]
    steps = [Step("", kind, "integers" if _whole(kind, trial) else "own", fresh=fresh) for kind, fresh in kinds]
    if depth != "quick" and trial.same_weights and trial.has_weights:
        steps.insert(1, Step("", "normal", "moved"))
    if trial.scales and not slow:
        steps.append(Step("", "rows"))
    return [step.named(f"{step.kind} ({number} of {len(steps) + 1})") for number, step in enumerate(steps, 2)]


def _whole(kind: str, trial: Trial) -> bool:
    return kind == "integers" and trial.same_weights and trial.has_weights


def _repeats(trial: Trial, first: Step, slow: bool) -> bool | None:
    """Whether the first call, made again amid other leftovers in memory, gives the same bits; None if not asked."""
    if slow:  # interpreted programs run in order; what a slow one would show is not worth the wait
        return None
    count = REPEATS if trial.call_s < CHEAP_S and not trial.big else 1
    same = [trial.repeat(first, LARGE_BYTE if number % 2 == 0 else NAN_BYTE) for number in range(count)]
    return all(same)


def _strided(trial: Trial) -> tuple[HeldOut, ...]:
    """Inputs as users may pass them, transposed or sliced. The problem does not ask for it, so it is told only."""
    step = Step("strided", "own", strided=True, fresh=True)
    try:
        told = trial.judged(step, trial.call(step))
    except CandidateError as error:
        return (HeldOut(sizes={}, why="strided", status=error.status, feedback=error.feedback),)
    faults = faults_of(told)
    status, feedback = (faults[0].kind, faults[0].text) if faults else (Status.OK, "")
    return (HeldOut(sizes={}, why="strided", status=status, feedback=feedback),)


def _accuracies(trial: Trial) -> tuple[Accuracy, ...]:
    return tuple(Accuracy.model_validate(entry) for entry in trial.accuracy)


def _notes(trial: Trial, depth: Depth) -> str:
    notes = list(trial.findings)
    if trial.random:
        notes.append("the reference is random: compared by distribution over repeated draws")
    elif not trial.accuracy:
        notes.append("no case has finite values to judge by; only shapes and types were checked")
    if depth != "quick" and trial.has_weights and not trial.same_weights:
        why = trial.weights or "its parameters have other names"
        notes.append(f"not tried with weights that change after construction: {why}")
    return "\n".join(notes)


def _told(beyond: HeldOut) -> str:
    sizes = ", ".join(f"{name} {size}" for name, size in beyond.sizes.items())
    status = beyond.status or "left out, the reference itself cannot be run so"
    first = beyond.feedback.split("\n", 1)[0]
    return f"held-out sizes ({beyond.why}; {sizes}): {status}{f': {first}' if first else ''}"
