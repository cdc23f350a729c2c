"""The judge alone, for a kernel from anywhere."""

from hashlib import sha256
from pathlib import Path
from time import perf_counter

from egg import __version__
from egg.state.errors import UserError
from egg.state.judgement import Judgement
from egg.state.settings import Policy, Settings
from egg.tools.device import detect_device
from egg.tools.judge import judge
from egg.tools.problem import load_problem
from egg.tools.roofline import roofline_ms
from egg.tools.store import Store
from egg.tools.workload import analyse


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
    if policy not in list(Policy):
        raise UserError(f"unknown policy {policy!r}; known: {', '.join(Policy)}")
    source = read_source(Path(kernel_file))
    device = detect_device(target)
    settings = Settings.model_validate({"policy": policy, "target": target})
    problem = load_problem(str(problem_file))
    store = Store()
    workload = analyse(problem, settings.policy, store)
    least, bound = roofline_ms(workload, device, settings.policy)
    return Judgement(
        problem=problem.name,
        problem_digest=problem.digest,
        kernel=str(kernel_file),
        kernel_digest=sha256(source.encode()).hexdigest(),
        policy=settings.policy,
        quick=quick,
        device=device,
        sizes={} if device.present else problem.small_constants,
        degenerate=workload.degenerate,
        roofline_ms=least,
        bound=bound,
        evaluation=judge(problem, source, device, settings.policy, store, confirm=not quick),
        egg_version=__version__,
        seconds=round(perf_counter() - began, 2),
    )


def read_source(file: Path) -> str:
    """A kernel file's text.

    Raises:
        UserError: it cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"{file}: no such file; give a Python file that defines ModelNew") from None
    except UnicodeDecodeError:
        raise UserError(f"{file}: not a text file in UTF-8") from None
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None
