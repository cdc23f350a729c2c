"""From what a child said to the verdict on a candidate."""

from collections.abc import Sequence
from typing import Any

from egg.state.device import Device
from egg.state.fault import Fault
from egg.state.status import Status
from egg.tools.errors import CandidateError
from egg.tools.sandbox.records import Reply


def candidate_failure(reply: Reply, device: Device, calls: int = 0) -> CandidateError:
    """The verdict on a candidate whose child did not finish, after so many `calls` that did."""
    if failure := reply.candidate_error():
        return failure
    if reply.state == "timeout":
        what = f"too much work for all calls together, {calls} of which ended" if calls > 0 else "far too much work"
        return CandidateError(Status.TIMEOUT, f"{reply.error}: an endless loop, a deadlock, or {what}")
    if reply.state == "out_of_memory":
        return CandidateError(Status.OUT_OF_MEMORY, reply.error)
    if reply.error.endswith("code 0 unasked"):
        return CandidateError(Status.CHEAT, "the candidate ended its process before its outputs were taken")
    status = Status.GPU_FAULT if device.present and reply.state == "crashed" else Status.RUNTIME_ERROR
    return CandidateError(status, f"{reply.error}\n{reply.output[-1500:]}".strip())


def faults_of(told: dict[str, Any]) -> list[Fault]:
    """What the referee found wrong with a call."""
    return [Fault.model_validate(fault) for fault in told["faults"]]


def failure(faults: Sequence[Fault], kind: Status | None = None, before: str = "", after: str = "") -> CandidateError:
    """The verdict that faults make; `before` and `after` are put around their words."""
    told = [f.model_copy(update={"kind": kind or f.kind, "text": f"{before}{f.text}"}) for f in faults]
    return CandidateError(told[0].kind, "\n".join(part for part in (in_words(told), after) if part), told)


def in_words(faults: Sequence[Fault]) -> str:
    """A line a fault, with the case that shows it."""
    return "\n".join(f"{fault.case}: {fault.text}" if fault.case else fault.text for fault in faults)
