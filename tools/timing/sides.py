"""What is timed side by side: each a module in a process of its own, and what its failure means."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from egg.state.device import Device
from egg.state.errors import MachineError
from egg.state.evaluation import Status
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.correctness.answers import read_entry
from egg.tools.errors import CandidateError
from egg.tools.sandbox.client import Bounds, Reply

TASK = "egg.tools.tasks.timer:serve"
BOUNDS = Bounds(seconds=900, memory_bytes=64 << 30)
INPUT_SETS = 4
FLUSHES = 3  # times the second-level cache that is written before a sample
LEAST_MS = 1e-6

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
    compiled: str | None = None
    """A mode of torch.compile."""
    optional: bool = False
    """Whether the measurement goes on without it if it fails."""
    traced: bool = False
    """Whether its kernels are looked at too, in the first session."""
    tunes: bool = False
    """Whether setting it up may time variants on the GPU, which another side's work would upset."""
    seconds: float = BOUNDS.seconds
    """For setting it up."""


@dataclass(frozen=True)
class Block:
    """Timed calls of one side, one after the other. Milliseconds."""

    events: list[float]
    apart: list[tuple[float, float]]
    """By events and by the host's clock, for the same calls."""


class LeftOut(Exception):
    """An optional side failed."""


def payload(problem: Problem, side: Side, device: Device, policy: Policy, seed: int, clock: str) -> dict[str, Any]:
    """What the timer's process of a side is told."""
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


def checked(reply: Reply, name: str, side: Side) -> dict[str, Any]:
    """The answer of a side's process.

    Raises:
        CandidateError: the candidate failed.
        LeftOut: an optional side did.
        MachineError: the reference did.
    """
    if reply.ok:
        return reply.value
    if side.optional:
        raise LeftOut(f"{reply.state}: {reply.error}")
    if side.source is None:
        raise MachineError(f"timing {name} of the reference ended with {reply.state}: {reply.error}")
    if failure := reply.candidate_error():
        raise failure
    status, meaning = FAULTS.get(reply.state, FAULTS["crashed"])
    raise CandidateError(status, f"{meaning}: {reply.error}")


def starved(reply: Reply) -> bool:
    """Whether a side's process found too little memory."""
    said = reply.candidate_error()
    return reply.state == "out_of_memory" or (said is not None and said.status is Status.OUT_OF_MEMORY)


class Opened(NamedTuple):
    """What a side's process says once it is set up."""

    typical_ms: float
    sets: int


def opened(answer: Mapping[str, Any]) -> Opened:
    """The same, well-formed.

    Raises:
        CandidateError: it is forged.
    """
    try:
        return Opened(_ms(answer["typical_ms"]), min(INPUT_SETS, max(1, int(answer["sets"]))))
    except (KeyError, TypeError, ValueError) as error:
        raise CandidateError(Status.CHEAT, "what the candidate's process says of itself is forged") from error


def block(answer: Mapping[str, Any], samples: int, apart: int) -> Block:
    """A block's figures, as many as were asked for.

    Raises:
        CandidateError: they are forged.
    """
    try:
        events = [_ms(value) for value in answer["event_ms"]]
        both = [(_ms(event), _ms(host)) for event, host in answer["apart"]]
        if (len(events), len(both)) != (samples, apart):
            raise ValueError
    except (KeyError, TypeError, ValueError) as error:
        raise CandidateError(Status.CHEAT, "the times that the candidate's process reports are forged") from error
    return Block(events, both)


def outputs(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries of a kept output, with every field that is read later.

    Raises:
        CandidateError: they are forged.
    """
    try:
        return [read_entry(entry) for entry in answer["outputs"]]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CandidateError(Status.CHEAT, "what the candidate's process says of its outputs is forged") from error


def _ms(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ValueError
    return max(float(value), LEAST_MS)
