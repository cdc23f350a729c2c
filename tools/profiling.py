"""The profile of a kernel from anywhere."""

from hashlib import sha256
from pathlib import Path
from time import perf_counter

from egg import __version__
from egg.state.errors import UserError
from egg.state.profiled import Profiled
from egg.state.settings import Policy, Settings
from egg.tools.ceilings import ceilings
from egg.tools.device import detect_device
from egg.tools.diagnosis import diagnose
from egg.tools.errors import CandidateError
from egg.tools.judgement import read_source
from egg.tools.known_error import known_error
from egg.tools.problem import load_problem
from egg.tools.profile import profile_forward
from egg.tools.store import Store
from egg.tools.workload import analyse


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
    if policy not in list(Policy):
        raise UserError(f"unknown policy {policy!r}; known: {', '.join(Policy)}")
    source = read_source(Path(kernel_file))
    device = detect_device(target)
    settings = Settings.model_validate({"policy": policy, "target": target})
    problem, store = load_problem(str(problem_file)), Store()
    workload = analyse(problem, settings.policy, store)
    try:
        found = profile_forward(problem, source, device, settings.policy, store, counters=counters)
    except CandidateError as error:
        why = " ".join(error.feedback.split())[:300]
        raise UserError(f"{kernel_file}: cannot be profiled: {error.status}: {why}; see: egg check") from None
    rates = ceilings(device)
    return Profiled(
        problem=problem.name,
        problem_digest=problem.digest,
        kernel=str(kernel_file),
        kernel_digest=sha256(source.encode()).hexdigest(),
        policy=settings.policy,
        device=device,
        ceilings=rates,
        profile=diagnose(found, workload, device, settings.policy, rates),
        estimate_error=known_error(device.target) if found.source == "estimate" else None,
        egg_version=__version__,
        seconds=round(perf_counter() - began, 2),
    )
