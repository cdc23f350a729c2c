"""The one verdict: does it say what it may, compile, launch Triton, compute the right thing, and how fast."""

from concurrent.futures import ThreadPoolExecutor

from egg.state.device import Device
from egg.state.evaluation import Baseline, Evaluation, StaticProfile, Status
from egg.state.problem import Problem
from egg.state.settings import Policy, Settings
from egg.tools import timing
from egg.tools.compile import static_profile
from egg.tools.errors import CandidateError
from egg.tools.gate import refusal
from egg.tools.store import Store
from egg.tools.verify import check, mode

VERSION = 3
FEEDBACK_CHARS = 3000


def judge(
    problem: Problem,
    source: str,
    device: Device,
    settings: Settings,
    baseline: Baseline,
    store: Store,
    *,
    confirm: bool = False,
) -> Evaluation:
    """The verdict on a source; the same question is never worked on twice.

    `confirm` asks for more cases with new seeds, and for timing in several fresh processes beside torch.compile.

    Raises:
        UserError: no GPU is here and the problem has no small size.
        MachineError: the judge itself failed, which says nothing of the candidate.
    """
    key = {
        "problem": problem.digest,
        "small": problem.small_constants,
        "source": source,
        "policy": settings.policy.value,
        "device": device.model_dump(mode="json"),
        "confirm": confirm,
        "version": VERSION,
    }
    return store.get(
        "verdict", key, Evaluation, lambda: _judge(problem, source, device, settings.policy, store, confirm)
    )


def _judge(problem: Problem, source: str, device: Device, policy: Policy, store: Store, confirm: bool) -> Evaluation:
    if refused := refusal(source):
        return Evaluation(status=refused.status, feedback=refused.feedback, mode=mode(device))
    profile: StaticProfile | None = None
    try:
        with ThreadPoolExecutor(1) as pool:  # compiling and running are different processes: both at once
            checking = pool.submit(
                check, problem, source, device, policy, store, cases="confirm" if confirm else "search"
            )
            profile = static_profile(problem, source, device, policy, store)
        if not profile.launches:
            raise CandidateError(Status.NOT_TRITON, "no Triton kernel is launched: PyTorch computes everything")
        evaluation = checking.result().model_copy(update={"profile": profile})
        if evaluation.ok and device.present:
            measured = timing.compare(problem, source, device, policy, store, thorough=confirm)
            evaluation = evaluation.model_copy(update=measured._asdict())
        return evaluation.model_copy(update={"feedback": _tidy(evaluation.feedback)})
    except CandidateError as error:
        return Evaluation(status=error.status, feedback=_tidy(error.feedback), mode=mode(device), profile=profile)


def _tidy(text: str) -> str:
    """A candidate may have written some of it: no control characters, no flood."""
    plain = "".join(c for c in text if c.isprintable() or c == "\n")
    return plain if len(plain) <= FEEDBACK_CHARS else plain[:FEEDBACK_CHARS] + " ..."
