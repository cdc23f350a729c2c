"""Several modules timed side by side: each in a process of its own, in turns, so that a drift meets all alike."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from egg.state.device import Device
from egg.state.errors import MachineError
from egg.state.evaluation import Status
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.errors import CandidateError
from egg.tools.exclusive import exclusive, shared
from egg.tools.sandbox.client import Bounds, Reply, Worker, open_worker

TASK = "egg.tools.tasks.timer:serve"
BOUNDS = Bounds(seconds=900, memory_bytes=64 << 30)
ROUNDS = 10
BLOCKS = 2 * ROUNDS  # a round has two blocks of each side, in mirrored order: A B B A
SAMPLES = 120  # of each side in a session, unless that takes longer than
SIDE_MS = 1500.0
APART = 1  # samples a block for the second clock
INPUT_SETS = 4
FLUSHES = 2  # times the second-level cache that is written before a sample

FAULTS = {
    "timeout": (Status.TIMEOUT, "timing it takes too long"),
    "out_of_memory": (Status.OUT_OF_MEMORY, "it runs out of memory at full size"),
    "crashed": (Status.GPU_FAULT, "the process that ran it died"),
    "raised": (Status.RUNTIME_ERROR, "it fails at full size"),
}


@dataclass(frozen=True)
class Side:
    """A module to time. `source` None is the reference, whose failure is the machine's fault and not a verdict."""

    source: str | None = None
    compiled: bool = False
    traced: bool = False
    """Whether its kernels are looked at too, in the first session."""


@dataclass
class Samples:
    """One side's figures in one session of processes."""

    rounds: list[list[float]] = field(default_factory=list)
    apart: list[tuple[float, float]] = field(default_factory=list)
    """Event and host milliseconds of the same calls."""
    trace: dict[str, Any] | None = None
    """Of a candidate's first session: what its process says a forward pass does on the GPU."""


def sessions(
    problem: Problem,
    sides: Mapping[str, Side],
    device: Device,
    policy: Policy,
    *,
    count: int,
    seed: int = 0,
    clock: str = "cuda",
) -> dict[str, list[Samples]]:
    """`count` times over, fresh processes and interleaved rounds. What is compiled once is found again by the next.

    Raises:
        CandidateError: a candidate failed.
        MachineError: the reference did.
    """
    taken: dict[str, list[Samples]] = {name: [] for name in sides}
    with TemporaryDirectory(prefix="egg-timing-") as root:
        for turn in range(count):
            payloads = {
                name: _payload(problem, side, device, policy, seed + 1000 * turn, clock) for name, side in sides.items()
            }
            for name, samples in _session(sides, payloads, device, Path(root), Random(seed + turn)).items():
                taken[name].append(samples)
            sides = {name: replace(side, traced=False) for name, side in sides.items()}
    return taken


def _payload(problem: Problem, side: Side, device: Device, policy: Policy, seed: int, clock: str) -> dict[str, Any]:
    return {
        "problem": problem.source,
        "source": side.source,
        "compile": side.compiled,
        "policy": policy.value,
        "seed": seed,
        "sets": INPUT_SETS,
        "flush_bytes": FLUSHES * device.l2_bytes,
        "clock": clock,
    }


def _session(
    sides: Mapping[str, Side], payloads: Mapping[str, dict[str, Any]], device: Device, root: Path, random: Random
) -> dict[str, Samples]:
    taken = {name: Samples() for name in sides}
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        samples: dict[str, int] = {}
        for name, side in sides.items():
            folder = root / name
            folder.mkdir(exist_ok=True)
            with shared(device):  # one at a time, so that no timing waits for long
                worker = open_worker(TASK, payloads[name], replace(BOUNDS, folder=str(folder)))
                workers[name] = stack.enter_context(worker)
            opened = _checked(worker.opened, name, side)
            per_block = int(SIDE_MS / BLOCKS / max(opened["typical_ms"], 1e-3))
            samples[name] = max(1, min(SAMPLES // BLOCKS, per_block))
        stack.enter_context(exclusive(device))
        for _ in range(ROUNDS):
            for mine in taken.values():
                mine.rounds.append([])
            for name in _mirrored(list(sides), random):
                asked = {"samples": samples[name], "apart": APART}
                block = _checked(workers[name].ask(asked, BOUNDS.seconds), name, sides[name])
                taken[name].rounds[-1] += block["event_ms"]
                taken[name].apart += [(event, host) for event, host in block["apart"]]
        for name, side in sides.items():
            if side.traced:
                taken[name].trace = _checked(workers[name].ask({"trace": True}, BOUNDS.seconds), name, side)["trace"]
    return taken


def _mirrored(names: list[str], random: Random) -> list[str]:
    """Random order, then the same backwards: a steady drift cancels within the round."""
    random.shuffle(names)
    return names + names[::-1]


def _checked(reply: Reply, name: str, side: Side) -> dict[str, Any]:
    if reply.ok:
        return reply.value
    if side.source is None:
        raise MachineError(f"timing {name} of the reference ended with {reply.state}: {reply.error}")
    if reply.value.get("type") == "CandidateError":
        return reply.require(name)
    status, meaning = FAULTS[reply.state]
    raise CandidateError(status, f"{meaning}: {reply.error}")
