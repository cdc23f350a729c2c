"""The profile of a kernel from anywhere."""

from hashlib import sha256
from pathlib import Path
from time import perf_counter

from egg import __version__
from egg.state.errors import UserError
from egg.state.profiled import Profiled
from egg.state.settings import Policy
from egg.tools.ceilings import ceilings
from egg.tools.diagnosis import diagnose
from egg.tools.errors import CandidateError
from egg.tools.given import given
from egg.tools.known_error import known_error
from egg.tools.profile import profile_forward


def profile_file(
    problem_file: str | Path,
    kernel_file: str | Path,
    *,
    policy: Policy | str = Policy.STOCK,
    target: str | None = None,
    counters: bool = True,
) -> Profiled:
    """Where the time of `kernel_file`'s forward pass goes, on `problem_file`'s inputs, and what holds it back.

    On a GPU by its hardware counters where this user may read them, else by times; without a GPU by the estimate for
    `target` (sm_90 by default). Whether the kernel is right is not asked; that is `judge_file`'s question.

    Raises:
        UserError: a file that cannot be read or is no problem, a kernel that does not run, an unknown target or policy.
        MachineError: the profile itself failed.
    """
    began = perf_counter()
    problem, workload, source, device, policy, store = given(problem_file, kernel_file, policy, target)
    try:
        found = profile_forward(problem, source, device, policy, store, counters=counters)
    except CandidateError as error:
        why = " ".join(error.feedback.split())[:300]
        raise UserError(f"{kernel_file}: cannot be profiled: {error.status}: {why}; see: egg check") from None
    rates = ceilings(device)
    return Profiled(
        problem=problem.name,
        problem_digest=problem.digest,
        kernel=str(kernel_file),
        kernel_digest=sha256(source.encode()).hexdigest(),
        policy=policy,
        device=device,
        ceilings=rates,
        profile=diagnose(found, workload, device, policy, rates),
        estimate_error=known_error(device.target) if found.source == "estimate" else None,
        egg_version=__version__,
        seconds=round(perf_counter() - began, 2),
    )
