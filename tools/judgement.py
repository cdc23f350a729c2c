"""The judge alone, for a kernel from anywhere."""

from hashlib import sha256
from pathlib import Path
from time import perf_counter

from egg import __version__
from egg.state.judgement import Judgement
from egg.state.settings import Policy
from egg.tools.given import given
from egg.tools.judge import judge
from egg.tools.roofline import roofline_ms


def judge_file(
    problem_file: str | Path,
    kernel_file: str | Path,
    *,
    policy: Policy | str = Policy.STOCK,
    target: str | None = None,
    quick: bool = False,
) -> Judgement:
    """The verdict on `kernel_file`, which defines `ModelNew`, as an implementation of `problem_file`'s `Model`.

    A GPU in this machine runs and times it; without one it is compiled for `target` (sm_90 by default) and checked in
    Triton's interpreter at small sizes. `quick` asks what a search asks: fewer inputs, one timing session. The verdict
    is kept by content; a wrong kernel is a verdict too and raises nothing.

    Raises:
        UserError: a file that cannot be read or is no problem, an unknown target or policy, no small size and no GPU.
        MachineError: the judge itself failed.
    """
    began = perf_counter()
    problem, workload, source, device, policy, store = given(problem_file, kernel_file, policy, target)
    least, bound = roofline_ms(workload, device, policy)
    return Judgement(
        problem=problem.name,
        problem_digest=problem.digest,
        kernel=str(kernel_file),
        kernel_digest=sha256(source.encode()).hexdigest(),
        policy=policy,
        quick=quick,
        device=device,
        sizes={} if device.present else problem.small_constants,
        degenerate=workload.degenerate,
        roofline_ms=least,
        bound=bound,
        evaluation=judge(problem, source, device, policy, store, confirm=not quick),
        egg_version=__version__,
        seconds=round(perf_counter() - began, 2),
    )
