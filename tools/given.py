"""What a kernel from anywhere is looked at with: the problem, the source, the GPU, the policy."""

from pathlib import Path
from typing import NamedTuple

from egg.state.device import Device
from egg.state.errors import UserError
from egg.state.problem import Problem, Workload
from egg.state.settings import Policy, Settings
from egg.tools.device import detect_device
from egg.tools.problem import load_problem
from egg.tools.store import Store
from egg.tools.workload import analyse


class Given(NamedTuple):
    """Everything read and checked."""

    problem: Problem
    workload: Workload
    source: str
    device: Device
    policy: Policy
    store: Store


def given(
    problem_file: str | Path,
    kernel_file: str | Path,
    policy: Policy | str,
    target: str | None,
    run_dir: str | Path | None = None,
) -> Given:
    """Read both files, and find the GPU: this machine's own, or else `target` (sm_90 by default) to compile for.

    Args:
        run_dir: where the journal of the work goes, if anywhere.

    Raises:
        UserError: a file that cannot be read or is no problem, an unknown target or policy.
    """
    if policy not in list(Policy):
        raise UserError(f"unknown policy {policy!r}; known: {', '.join(Policy)}")
    source = _read(Path(kernel_file))
    device = detect_device(target)
    settings = Settings.model_validate({"policy": policy, "target": target})
    problem, store = load_problem(str(problem_file)), Store(run_dir)
    return Given(problem, analyse(problem, settings.policy, store), source, device, settings.policy, store)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"{file}: no such file; give a Python file that defines ModelNew") from None
    except UnicodeDecodeError:
        raise UserError(f"{file}: not a text file in UTF-8") from None
    except OSError as error:
        raise UserError(
            f"{file}: cannot be read ({error.strerror}); give a Python file that defines ModelNew"
        ) from None
