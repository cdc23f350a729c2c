"""Where the time of a candidate's forward pass goes: by counters, else by times, else by the estimate.

What a user may not, or a machine cannot, is no reason to stop: the next best is taken, and `note` says why in a line.
"""

import json
from math import isfinite
from typing import Any

from egg.state.device import Device
from egg.state.errors import MachineError
from egg.state.evaluation import StaticProfile
from egg.state.problem import Problem
from egg.state.profile import Profile
from egg.state.record import Record
from egg.state.settings import Policy
from egg.tools.compile import static_profile
from egg.tools.counters.collect import SEED, collect, never
from egg.tools.counters.join import of_counters, of_trace
from egg.tools.counters.program import MOST_LAUNCHES
from egg.tools.counters.read import Counted
from egg.tools.errors import CandidateError
from egg.tools.exclusive import exclusive
from egg.tools.sandbox.client import Bounds, run
from egg.tools.sandbox.records import printable
from egg.tools.share import Trace, read_trace
from egg.tools.store import Store
from egg.tools.timing.sides import FLUSHES
from egg.tools.verdict_profile import NOT_TRACED, estimated

VERSION = 1
TASK = "egg.tools.tasks.passes:measure"
BOUNDS = Bounds(seconds=300, memory_bytes=64 << 30)


class Launches(Record):
    """All that were counted of one pass, in order."""

    counted: tuple[Counted, ...]


class Lesser(Exception):
    """Not as good as it was to be, and so not kept; `trace` is what there is instead."""

    def __init__(self, why: str, trace: Trace | None = None) -> None:
        super().__init__(why)
        self.trace = trace


def profile_forward(
    problem: Problem, source: str, device: Device, policy: Policy, store: Store, *, counters: bool = True
) -> Profile:
    """All kernels of one forward pass at full size, those of PyTorch's libraries too, longest first.

    `counters` False asks for times alone. A GPU in this machine is held alone meanwhile; what was measured is kept.

    Raises:
        CandidateError: the candidate does not compile for the target.
        UserError: this machine does not offer the isolation that is asked for.
        MachineError: somebody else does not let go of the GPU.
    """
    static = static_profile(problem, source, device, policy, store)
    if not device.present:
        return estimated(static)
    key = {
        "problem": problem.digest,
        "source": source,
        "policy": policy.value,
        "gpu": [device.uuid, device.driver, device.software],
        "version": VERSION,
    }
    trace: Trace | None
    counted: tuple[Counted, ...] = ()
    untimed = uncounted = ""
    try:
        trace = store.get("times", key, Trace, lambda: _trace(problem, source, device, policy))
    except Lesser as lesser:
        trace, untimed = lesser.trace, str(lesser)
    if counters:
        try:
            counted = store.get("counters", key, Launches, lambda: _launches(problem, source, device, policy)).counted
        except Lesser as lesser:
            uncounted = str(lesser)
    return joined(static, trace, counted, untimed=untimed, uncounted=uncounted)


def joined(
    static: StaticProfile, trace: Trace | None, counted: tuple[Counted, ...], *, untimed: str = "", uncounted: str = ""
) -> Profile:
    """The best that these give; `untimed` and `uncounted` say why CUPTI and Nsight Compute did not do their part."""
    notes = [f"no counters: {uncounted}" if uncounted else "", f"no times by CUPTI: {untimed}" if untimed else ""]
    if len(counted) >= MOST_LAUNCHES:
        notes.append(f"counters of the first {MOST_LAUNCHES} launches of a pass")
    note = "; ".join(part for part in notes if part)
    if counted and (trace is None or trace.how != "cupti"):
        return of_counters(static, counted, f"{note}; times are Nsight Compute's".removeprefix("; "))
    if trace is not None:
        return of_trace(static, trace, counted, note)
    return estimated(static, f"{NOT_TRACED}: {note}" if note else NOT_TRACED)


def _trace(problem: Problem, source: str, device: Device, policy: Policy) -> Trace:
    payload: dict[str, Any] = {
        "problem": problem.source,
        "source": source,
        "policy": policy.value,
        "seed": SEED,
        "flush_bytes": FLUSHES * device.l2_bytes,
    }
    with exclusive(device):
        try:
            told = run(TASK, payload, BOUNDS).require("tracing a forward pass").get("trace")
            trace = read_trace(json.loads(printable(json.dumps(told, ensure_ascii=False))))
        except (CandidateError, MachineError) as error:
            raise Lesser((str(error).strip().splitlines() or ["no message"])[0][:200]) from error
    if not all(isfinite(us) and us >= 0 for seen in trace.activity for us in seen.us):
        raise Lesser("its process tells times that are none")
    if trace.how != "cupti":
        raise Lesser(trace.why, trace)
    return trace


def _launches(problem: Problem, source: str, device: Device, policy: Policy) -> Launches:
    if why := never(device):
        raise Lesser(why)
    with exclusive(device):
        answer = collect(problem, source, device, policy)
    if answer.why:
        raise Lesser(answer.why)
    return Launches(counted=answer.launches)
