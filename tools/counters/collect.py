"""Counters of one forward pass, or the line that says why there are none.

What Nsight Compute needs beyond what a candidate's child gets (`ASKED`) is granted to this one child, and only where
it has a network, processes and a file system of its own. The candidate can therefore reach no more than elsewhere; but
it could write the table itself, so counters decide what is tried next, never what a kernel is worth.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from egg.state.device import Device
from egg.state.errors import MachineError
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.counters import program
from egg.tools.counters.names import ask
from egg.tools.counters.read import Counted, read
from egg.tools.counters.why import refusal, unknown_names, unknown_options
from egg.tools.sandbox.client import Bounds, Reply, run
from egg.tools.sandbox.isolation import in_force
from egg.tools.sandbox.records import Grant

TASK = "egg.tools.tasks.counters:collect"
LOG = "counters.csv"
"""Where that task looks for the table."""
ASKED: tuple[Grant, ...] = ("sockets", "fifos", "signals", "modes")
SECONDS, SPARE_S = 150.0, 60.0
BOUNDS = Bounds(
    seconds=SECONDS + SPARE_S,
    memory_bytes=64 << 30,
    flood_bytes=256 << 20,
    grants=ASKED,
)
ROUNDS = 6
"""Starts at most, each without the names and options that the one before did not know."""
DETAIL_CHARS = 3000
MOST_FAILURES = 2
"""In a row, of different kernels perhaps, after which nobody waits for a third."""
SEED = 20


class Answer(NamedTuple):
    """`launches` in order, or `why` there are none; `lasting` if there is no use in asking again."""

    launches: tuple[Counted, ...] = ()
    why: str = ""
    lasting: bool = False
    detail: str = ""
    """Last lines of what was written, for whoever wants to mend it."""


_refused: dict[str, str] = {}
"""By GPU, what will not change while this process lives."""
_failed: dict[str, int] = {}
"""By GPU, how often in a row there was no answer."""


def collect(problem: Problem, source: str, device: Device, policy: Policy) -> Answer:
    """Counters of every kernel of one pass. Nothing else may run on the GPU meanwhile.

    Raises:
        UserError: this machine does not offer the isolation that is asked for.
    """
    found = program.find()
    if (why := never(device)) or found is None:
        return Answer(why=why, lasting=True)
    answer = started(problem, source, policy, found, program.known(found.path))
    failed = _failed.get(device.uuid or "", 0) + 1 if answer.why else 0
    _failed[device.uuid or ""] = failed
    if answer.lasting or failed >= MOST_FAILURES:
        _refused[device.uuid or ""] = answer.why
    return answer


def never(device: Device) -> str:
    """Why there is no use in asking, which nobody needs the GPU to know; empty if there may be.

    Raises:
        UserError: this machine does not offer the isolation that is asked for.
    """
    if why := _refused.get(device.uuid or ""):
        return why
    return unable(in_force(False)) if program.find() else "there is no ncu (Nsight Compute) here"


def unable(layers: Sequence[str]) -> str:
    """Why a child in these layers cannot be given what the profiler needs; empty if it can."""
    if not layers or "namespaces" in layers:
        return ""
    return "Nsight Compute needs sockets, which candidates get only in namespaces of their own, and there are none here"


def started(
    problem: Problem,
    source: str,
    policy: Policy,
    found: program.Program,
    known: frozenset[str],
    bounds: Bounds = BOUNDS,
    environment: Mapping[str, str] = MappingProxyType({}),
    child: Callable[[str, Mapping[str, Any], Bounds], Reply] = run,
) -> Answer:
    """Start it until it knows all that it is asked."""
    within = replace(bounds, runs=found.folders)

    def once(names: tuple[str, ...], without: tuple[str, ...]) -> Reply:
        payload = {
            "command": program.command(found.path, names, LOG, without),
            "environment": {**program.SETTINGS, **environment},
            "seconds": SECONDS,
            "problem": problem.source,
            "source": source,
            "policy": policy.value,
            "seed": SEED,
        }
        return child(TASK, payload, within)

    return until_known(once, known)


def until_known(once: Callable[[tuple[str, ...], tuple[str, ...]], Reply], known: frozenset[str]) -> Answer:
    """Ask again without what was not known, a few times at most."""
    refused: set[str] = set()
    without: set[str] = set()
    answer = Answer(why="Nsight Compute knows none of the metrics")
    for _ in range(ROUNDS):
        if not (names := ask(known, refused)):
            break
        try:
            reply = once(names, tuple(sorted(without)))
        except MachineError as error:  # not even the child: what it is granted may be what this machine refuses
            return Answer(why=f"profiling: {_first(str(error))}")
        if not reply.ok:
            return Answer(why=f"profiling ended with {reply.state}: {_first(reply.error)}")
        log, printed, code = (reply.value.get(name) for name in ("log", "printed", "code"))
        if not isinstance(log, str) or not isinstance(printed, str) or not isinstance(code, int | None):
            return Answer(why="profiling: an answer that is none")
        if launches := read(log):
            return Answer(launches)
        refusing = refusal(log, printed, code)
        detail = f"{log[-DETAIL_CHARS:]}\n{printed[-DETAIL_CHARS:]}".strip()
        answer = Answer(why=refusing.why, lasting=refusing.lasting, detail=detail)
        new = {*unknown_names(log + printed)} - refused, {*unknown_options(log + printed)} - without
        if answer.lasting or not any(new):
            break
        refused |= new[0]
        without |= new[1]
    return answer


def _first(text: str) -> str:
    plain = "".join(c for c in text if c.isprintable() or c == "\n").strip()
    return (plain.splitlines() or ["no message"])[0][:200]
