"""The one verdict: does it say what it may, compile, compute the right thing in its own Triton code, and how fast."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from egg.state.device import Device
from egg.state.evaluation import Evaluation, Status
from egg.state.fault import Fault
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools import compile as compiling
from egg.tools.compile import Unfinished, static_profile
from egg.tools.correctness import verify
from egg.tools.correctness.verify import check, mode
from egg.tools.errors import CandidateError
from egg.tools.gate import refusal
from egg.tools.sandbox.isolation import isolation
from egg.tools.share import not_ours, owned, predicted, read_trace
from egg.tools.stock import stock_verdict
from egg.tools.store import Store
from egg.tools.timing import measure as timing

VERSION = 6
FEEDBACK_CHARS = 3000
NO_STOCK = (Status.COMPILE_ERROR, Status.TIMEOUT, Status.OUT_OF_MEMORY, Status.GPU_FAULT)
"""Failures that KernelBench's protocol would only meet once more."""


def judge(
    problem: Problem,
    source: str,
    device: Device,
    policy: Policy,
    store: Store,
    *,
    confirm: bool = False,
    read: bool = True,
) -> Evaluation:
    """The verdict on a source; the same question is never worked on twice.

    `read` False leaves the source unread, so that the numbers alone must tell: for `egg.evals.trust`.

    `confirm` asks for more cases with new seeds, for timing in several fresh processes beside torch.compile, and for
    what KernelBench's own protocol would say.

    Raises:
        UserError: no GPU is here and the problem has no small size.
        MachineError: the judge itself failed, which says nothing of the candidate.
    """
    key = {
        "problem": problem.digest,
        "small": problem.small_constants,
        "source": source,
        "policy": policy.value,
        "device": device.model_dump(mode="json"),
        "confirm": confirm,
        "version": [VERSION, verify.VERSION, timing.VERSION, compiling.VERSION],
    } | ({} if read else {"read": False})

    def produce() -> Evaluation:
        return _judge(problem, source, device, policy, store, confirm, read)

    return store.get("verdict", key, Evaluation, produce, lasting=lambda found: found.status is not Status.TIMEOUT)


def _judge(
    problem: Problem, source: str, device: Device, policy: Policy, store: Store, confirm: bool, read: bool
) -> Evaluation:
    seen: dict[str, Any] = {"isolation": isolation(interpret=not device.present)}
    try:
        if read and (refused := refusal(source)):
            fault = Fault(kind=refused.status, text=refused.feedback, line=refused.line)
            raise CandidateError(refused.status, refused.feedback, [fault])
        evaluation = _ours(problem, source, device, policy, store, confirm, seen)
    except CandidateError as error:
        evaluation = Evaluation(status=error.status, feedback=error.feedback, faults=error.faults, mode=mode(device))
    if confirm and evaluation.status not in NO_STOCK:
        seen["stock"] = stock_verdict(problem, source, device)
    return evaluation.model_copy(update=seen | {"feedback": _tidy(evaluation.feedback)})


def _ours(
    problem: Problem, source: str, device: Device, policy: Policy, store: Store, confirm: bool, seen: dict[str, Any]
) -> Evaluation:
    """Correct, the candidate's own, and how fast. What is found on the way is put into `seen` at once.

    Raises:
        CandidateError: it is none of a kind that has a time.
    """
    with ThreadPoolExecutor(1) as pool:  # compiling and running are different processes: both at once
        checking = pool.submit(check, problem, source, device, policy, store, cases="confirm" if confirm else "search")
        try:
            profile = static_profile(problem, source, device, policy, store)
            seen["profile"] = profile.brief()
        except Unfinished:
            if (evaluation := checking.result()).ok:
                raise
            return evaluation
    if not profile.launches:
        raise CandidateError(Status.NOT_TRITON, "no Triton kernel is launched: PyTorch computes everything")
    evaluation = checking.result()
    if not evaluation.ok:
        return evaluation
    if not device.present:
        seen["ownership"] = predicted(profile, evaluation.ownership)
        return evaluation
    measured = timing.compare(problem, source, device, policy, store, thorough=confirm)
    figures = measured._asdict()
    ownership = seen["ownership"] = owned(read_trace(figures.pop("trace")), profile, measured.timing)
    if failed := not_ours(ownership):
        raise failed
    return evaluation.model_copy(update=figures)


def _tidy(text: str) -> str:
    """A candidate may have written some of it: no control characters, no flood."""
    plain = "".join(c for c in text if c.isprintable() or c == "\n")
    return plain if len(plain) <= FEEDBACK_CHARS else plain[:FEEDBACK_CHARS] + " ..."
