"""The search alone, for a kernel from anywhere: no model, no run."""

import json
from pathlib import Path

from pydantic import Field, ValidationError

from egg.state.device import Device
from egg.state.errors import UserError
from egg.state.evaluation import Evaluation
from egg.state.problem import Problem
from egg.state.record import Record
from egg.state.search import CONTENDERS, SearchLimits, SearchResult, SearchSpace, Values
from egg.state.settings import Policy
from egg.tools.given import given
from egg.tools.judge import judge
from egg.tools.store import Store
from egg.tools.tune.apply import sources, tidy
from egg.tools.tune.heading import headed
from egg.tools.tune.kernel import tune_kernel, with_current
from egg.tools.tune.space import group_of, names_in


class Tuned(Record):
    """What was found, and the judge's word on it."""

    problem: str
    kernel: str = Field(description="The kernel file, as it was named")
    device: Device
    policy: Policy
    before: Evaluation = Field(description="Of the kernel as it was")
    result: SearchResult | None = Field(description="None where there is nothing to choose")
    choice: Values = Field(description="The values chosen; empty if the kernel stays as it was")
    after: Evaluation | None = Field(description="Of the choice; None if the kernel stays as it was")
    dropped: tuple[str, ...] = Field((), description="Better points that the judge turned down, and why")
    source: str = Field(description="The kernel to keep; its head says what was chosen for which inputs")


def tune_file(
    problem_file: str | Path,
    kernel_file: str | Path,
    *,
    policy: Policy | str = Policy.STOCK,
    target: str | None = None,
    space_file: str | Path | None = None,
    limits: SearchLimits = SearchLimits(),  # noqa: B008  (frozen)
    run_dir: str | Path | None = None,
) -> Tuned:
    """Search the numbers of `kernel_file`, and have the judge look at the best points until one passes.

    Every finished point is kept: after a kill the same call goes on where it was.

    Args:
        space_file: JSON, `{name: [values]}` or a `SearchSpace`; by default what can be read off the kernel.
        run_dir: where the journal of the work goes.

    Raises:
        UserError: a file that cannot be read, a kernel that is not right, a space that is none of its.
        MachineError: the judge or the clock failed.
    """
    problem, workload, written, device, policy, store = given(problem_file, kernel_file, policy, target, run_dir)
    source = tidy(written)
    space = read_space(Path(space_file), source) if space_file else None
    before = judge(problem, source, device, policy, store)
    if not before.ok:
        first = before.feedback.split("\n", 1)[0]
        raise UserError(f"{kernel_file} is not right ({before.status}: {first}): mend it first, see egg check")
    found = tune_kernel(
        problem, source, device, policy, store,
        workload=workload, given=space, profile=before.profile, limits=limits,
    )  # fmt: skip
    told = Tuned(
        problem=problem.name, kernel=str(kernel_file), device=device, policy=policy,
        before=before, result=found, choice={}, after=None, source=source,
    )  # fmt: skip
    if found is None:
        return told
    chosen = _judged(told, problem, store)
    values = {**found.points[0].values, **chosen.choice}
    text = headed(chosen.source, values, found.measured, workload.inputs, device)
    return chosen.model_copy(update={"source": text})


def read_space(file: Path, source: str) -> SearchSpace:
    """The space in a file, with the kernel's own values added.

    Raises:
        UserError: no such file, no space, or no such parameter.
    """
    try:
        told = json.loads(file.read_text())
        if isinstance(told, dict) and "parameters" not in told:
            told = {"parameters": [{"name": n, "values": v, "group": group_of(n)} for n, v in told.items()]}
        space = SearchSpace.model_validate(told)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None
    except (ValidationError, ValueError):
        raise UserError(f'{file} is no search space: give JSON such as {{"BLOCK": [64, 128]}}') from None
    known = names_in(source)
    if unknown := [parameter.name for parameter in space.parameters if parameter.name not in known]:
        there = ", ".join(known) or "none: give it module-level constants such as BLOCK = 128"
        raise UserError(f"{file}: no {', '.join(unknown)} in the kernel; it has {there}")
    return with_current(source, space)


def _judged(told: Tuned, problem: Problem, store: Store) -> Tuned:
    """With the best point that the judge passes."""
    result = told.result
    dropped: list[str] = []
    assert result is not None
    for place in result.ranking[:CONTENDERS]:
        point = result.points[place]
        (source,) = sources(problem, told.source, [point.values], told.device, told.policy, store)
        assert source is not None  # it was compiled
        after = judge(problem, source, told.device, told.policy, store)
        if after.ok:
            changes = {"choice": result.changes(point), "after": after, "source": source, "dropped": tuple(dropped)}
            return told.model_copy(update=changes)
        first = after.feedback.split("\n", 1)[0]
        dropped.append(f"{point.kernel}: {after.status}: {first}")
    return told.model_copy(update={"dropped": tuple(dropped)})
