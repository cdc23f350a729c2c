"""One forward pass of a candidate, recorded in a child while its kernels are compiled in others."""

from typing import Any, NamedTuple

from egg.state.device import Device
from egg.state.evaluation import Status
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.assembly.compiled import Compiled
from egg.tools.errors import CandidateError
from egg.tools.estimate import TorchFacts
from egg.tools.facts import shortage
from egg.tools.kernels import Batch, Unfinished
from egg.tools.launched import Job, Seen
from egg.tools.sandbox.client import Bounds, Reply, open_worker
from egg.tools.sandbox.pool import forget
from egg.tools.store import Store

BOUNDS = Bounds(seconds=180)
FAILURES = {
    "timeout": (Status.TIMEOUT, "the host code of one forward pass takes too long, or its kernels are too many"),
    "out_of_memory": (Status.OUT_OF_MEMORY, "constructing the module, or recording it, takes too much memory"),
    "crashed": (Status.COMPILE_ERROR, "the process that recorded the launches crashed"),
    "raised": (Status.RUNTIME_ERROR, "the forward pass could not be recorded"),
}
FORGED = "what the candidate's process says of its launches is forged"


class Recording(NamedTuple):
    """Launches and PyTorch's operators in order, and the kernels by number."""

    launches: list[Seen]
    operators: list[TorchFacts]
    jobs: list[Job]
    kernels: dict[int, Compiled]

    def kernel(self, seen: Seen) -> Compiled:
        return self.kernels[seen.job]


def record(problem: Problem, source: str, device: Device, policy: Policy, store: Store) -> Recording:
    """Record the pass; kernels that are launched are compiled, and fit.

    At first no launch waits for its kernel. If one turns out not to exist the pass is recorded again with launches that
    do: the candidate's own handling of failures then takes its course, and what it lets through bears its line.

    Raises:
        CandidateError: the candidate does not construct, run on tensors without data, or compile for the target.
    """
    payload = {
        "problem": problem.source,
        "source": source,
        "policy": policy.value,
        "device": device.model_dump(mode="json"),
        "eager": False,
    }
    with Batch(device, store) as batch:
        first = _converse(payload, batch)
        kernels = [first.kernel(seen) for seen in first.launches]
        if all(kernel.ok and shortage(kernel, device) is None for kernel in kernels) and not batch.refused():
            return first
    with Batch(device, store) as batch:
        return _converse(payload | {"eager": True}, batch)


def _converse(payload: dict[str, Any], batch: Batch) -> Recording:
    for attempt in (1, 2):
        with open_worker("egg.tools.tasks.record:record", payload, BOUNDS) as worker:
            reply = worker.opened
            while reply.ok and "launches" not in reply.value:
                served = _served(reply.value, batch)
                reply = worker.ask({"compiled": served}, min(BOUNDS.seconds, batch.left()))
        if not worker.lost or attempt == 2:
            break
        forget(worker.zygote)  # another thread's candidate has killed its parent
        batch.clear()
    told = _answer(reply)
    try:
        launches = [Seen.model_validate(seen) for seen in told["launches"]]
        operators = [TorchFacts.model_validate(operator) for operator in told["operators"]]
        kernels = {seen.job: batch.outcome(seen.job) for seen in launches}
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise CandidateError(Status.CHEAT, FORGED) from error
    return Recording(launches, operators, batch.jobs, kernels)


def _served(asked: dict[str, Any], batch: Batch) -> dict[str, Any]:
    """Have new kernels compiled; outcomes of those that are needed, by number."""
    try:
        for job in asked["jobs"]:
            batch.add(Job.model_validate(job))
        return {str(number): batch.outcome(int(number)).model_dump(mode="json") for number in asked["need"]}
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise CandidateError(Status.CHEAT, FORGED) from error


def _answer(reply: Reply) -> dict[str, Any]:
    if reply.ok:
        return reply.value
    if failure := reply.candidate_error():
        raise failure
    status, meaning = FAILURES[reply.state]
    detail = "\n".join((reply.error or reply.output).strip().splitlines()[-6:])
    raise Unfinished(status, f"{meaning}\n{detail}".strip())
