"""Several modules timed side by side: each in a process of its own, in turns, so that a drift meets all alike."""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from time import perf_counter
from typing import NamedTuple

from egg.state.conditions import TimedOutputs
from egg.state.device import Device
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools import shelf
from egg.tools.errors import CandidateError
from egg.tools.exclusive import exclusive, shared
from egg.tools.folders import measuring_folder
from egg.tools.sandbox.client import Worker, open_worker
from egg.tools.sandbox.removal import scratch
from egg.tools.timing import standing
from egg.tools.timing.nvml import Reader, Reading
from egg.tools.timing.session import CANDIDATE, EAGER, Samples, Session
from egg.tools.timing.sides import BOUNDS, TASK, LeftOut, Side, checked, payload, starved

NO_ROOM = "the memory that it takes is needed by the others"


class Plan(NamedTuple):
    """How thoroughly."""

    sessions: int = 1
    """Times over, each in fresh processes."""
    rounds: int = 10
    """Of a session. A round has two blocks of each side, in mirrored order: A B B A."""
    outputs: int = 5
    """Timed calls of the candidate a session whose outputs are checked."""
    beside: bool = False
    """Whether times with a warm cache and of CUDA graphs are taken too, in the last session."""
    fresh: bool = False
    """Whether even the reference's process must be new where there is but one session."""


@dataclass(frozen=True)
class Job:
    """What is timed where."""

    problem: Problem
    device: Device
    policy: Policy
    reader: Reader
    """Of the GPU's clocks."""
    clock: str = "cuda"


@dataclass
class Taken:
    """All that was measured."""

    sides: dict[str, list[Samples]]
    left_out: dict[str, str] = field(default_factory=dict)
    outputs: TimedOutputs = field(default_factory=TimedOutputs)
    readings: list[Reading | None] = field(default_factory=list)
    thrown_away: int = 0
    seeds: list[int] = field(default_factory=list)
    input_sets: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    notes: list[str] = field(default_factory=list)


def sessions(job: Job, sides: Mapping[str, Side], plan: Plan) -> Taken:
    """Interleaved rounds, as often as planned. What is compiled once is found again by the next session.

    Raises:
        CandidateError: a candidate failed, or a timed call of it gave a wrong output.
        MachineError: the reference failed.
    """
    taken = Taken({name: [] for name in sides})
    with scratch(measuring_folder()) as folder:
        root = Path(folder)
        for name, side in sides.items():
            (root / name).mkdir()
            if side.source is not None:
                shelf.take(side.source, root / name)
        for turn in range(plan.sessions):
            present = {name: side for name, side in sides.items() if name not in taken.left_out}
            if turn:
                # What a reference's compiler chose in the first session is found again and not tried out again.
                present = {
                    name: replace(side, traced=False, tunes=side.tunes and side.source is not None)
                    for name, side in present.items()
                }
            beside = plan.beside and turn == plan.sessions - 1
            _session(taken, job, present, plan._replace(beside=beside), root)
    for name in taken.left_out:
        taken.sides.pop(name, None)
    return taken


def secret() -> int:
    """A seed nobody can have prepared for."""
    return int.from_bytes(os.urandom(4), "little") >> 1


def _session(taken: Taken, job: Job, sides: dict[str, Side], plan: Plan, root: Path) -> None:
    key = (job.problem.digest, job.policy, job.device.uuid, job.clock)
    keep = plan.sessions == 1 and not plan.fresh
    eager = standing.take(key) if keep else None
    seed = eager.seed if eager else secret()
    workers = {EAGER: eager.worker} if eager else {}
    reusable = False
    try:
        with _timed(taken, "opening"):
            open_sides(workers, taken, job, sides, seed, root)
        present = {name: side for name, side in sides.items() if name in workers}
        session = Session(present, workers, plan.rounds, plan.outputs, job.reader, Random(secret()))
        began = perf_counter()
        with exclusive(job.device):
            taken.seconds["waiting"] += perf_counter() - began
            with _timed(taken, "timing"):
                for _ in range(plan.rounds):
                    session.round()
                session.beside(plan.beside)
        session.discard()
        if CANDIDATE in workers:
            workers[CANDIDATE].close()  # its memory is needed
            with shared(job.device), _timed(taken, "checking"):
                taken.outputs = _sum(taken.outputs, session.check_outputs(seed, root / CANDIDATE))
        if plan.beside and EAGER in workers:
            with exclusive(job.device):  # only now: a failed capture may spoil the process that has just compared
                session.report(EAGER, "graph_ms")
        _gather(taken, session, seed)
        reusable = keep
    except CandidateError:
        reusable = keep
        raise
    finally:
        if reusable and EAGER in workers:
            standing.give(key, standing.Standing(workers.pop(EAGER), seed))
        for worker in workers.values():
            worker.close()


def open_sides(
    workers: dict[str, Worker], taken: Taken, job: Job, sides: dict[str, Side], seed: int, root: Path
) -> None:
    """Set up all that are not there yet: those that tune themselves on the GPU one by one, the others together."""

    def start(name: str) -> Worker:
        told = payload(job.problem, sides[name], job.device, job.policy, seed, job.clock)
        bounds = replace(BOUNDS, seconds=sides[name].seconds)
        if name == EAGER:  # it may outlive this measurement, and compares what the candidates of several leave
            bounds = replace(bounds, reads=(measuring_folder(),))
        else:
            bounds = replace(bounds, folder=str(root / name))
        return open_worker(TASK, told, bounds)

    wanted = [name for name in sides if name not in workers]
    together = [name for name in wanted if not sides[name].tunes]
    for wave in (together, *([name] for name in wanted if sides[name].tunes)):
        with ExitStack() as present, ThreadPoolExecutor(max(1, len(wave))) as pool:
            if wave:
                with _timed(taken, "waiting"):
                    present.enter_context(shared(job.device))
            opening = {name: pool.submit(start, name) for name in wave}
        workers |= {name: future.result() for name, future in opening.items() if not future.exception()}
        for future in opening.values():
            future.result()
    spare = [name for name in wanted if sides[name].optional]
    if spare and any(starved(workers[name].opened) for name in wanted if name not in spare):
        for name in wanted:
            workers.pop(name).close()
        taken.left_out |= dict.fromkeys(spare, NO_ROOM)
        return open_sides(workers, taken, job, {n: side for n, side in sides.items() if n not in spare}, seed, root)
    for name, side in sides.items():
        try:
            checked(workers[name].opened, name, side)
        except LeftOut as reason:
            taken.left_out[name] = str(reason)
            workers.pop(name).close()


def _gather(taken: Taken, session: Session, seed: int) -> None:
    taken.left_out |= session.left_out
    for name, samples in session.taken.items():
        taken.sides[name].append(samples)
    taken.readings += [reading for turn in session.readings for reading in turn]
    taken.thrown_away += session.thrown_away
    taken.input_sets = min(session.sets.values())
    taken.seeds.append(seed)
    if session.note:
        taken.notes.append(session.note)


def _sum(one: TimedOutputs, other: TimedOutputs) -> TimedOutputs:
    return TimedOutputs(
        checked=one.checked + other.checked,
        of=one.of + other.of,
        telling=one.telling + other.telling,
        note=one.note or other.note,
    )


@contextmanager
def _timed(taken: Taken, what: str) -> Iterator[None]:
    began = perf_counter()
    try:
        yield
    finally:
        taken.seconds[what] += perf_counter() - began
