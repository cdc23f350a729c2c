"""The search of one kernel: its space, wherever it comes from, and what was found in it."""

from egg.state.device import Device
from egg.state.evaluation import StaticProfile
from egg.state.problem import Problem, Workload
from egg.state.search import SearchLimits, SearchResult, SearchSpace, Value
from egg.state.settings import Policy
from egg.state.stage import Group
from egg.tools.store import Store
from egg.tools.timing.interleave import Job
from egg.tools.tune.apply import Rewritten
from egg.tools.tune.search import tune
from egg.tools.tune.space import current, hints, is_decision, names_in, space_of


def tune_kernel(
    problem: Problem,
    source: str,
    device: Device,
    policy: Policy,
    store: Store,
    *,
    workload: Workload,
    given: SearchSpace | None = None,
    group: Group | None = None,
    profile: StaticProfile | None = None,
    limits: SearchLimits = SearchLimits(),  # noqa: B008  (frozen)
    job: Job | None = None,
) -> SearchResult | None:
    """Search what one stage (`group`, or all) may choose of a kernel; None if there is nothing to choose.

    Args:
        given: what the kernel's author says may be chosen; by default what can be read off the source.
        profile: of the kernel, for the library's proposals.
        job: what to time on; by default the GPU if `device` is present.
    """
    for by_hand in (False, True):
        space = _mine(source, given, group) or space_of(source, group, profile, device, workload, by_hand=by_hand)
        if space.size == 1:
            return None
        first = hints(source, space, group, profile, device, workload)
        try:
            return tune(
                problem, source, device, policy, store,
                space=space, workload=workload, limits=limits, hints=first, job=job,
            )  # fmt: skip
        except Rewritten:
            given = None
    return None


def with_current(source: str, space: SearchSpace) -> SearchSpace:
    """The space with the kernel's own values among those of each parameter: the search starts from them.

    Raises:
        KeyError: the kernel has no such parameter.
    """
    now = current(source, space)
    return SearchSpace(
        parameters=tuple(
            p if now[p.name] in p.values else p.model_copy(update={"values": _ordered((*p.values, now[p.name]))})
            for p in space.parameters
        )
    )


def _mine(source: str, given: SearchSpace | None, group: Group | None) -> SearchSpace | None:
    """What the author says, as far as the source still has it; the library's decisions if these are all of it."""
    known = set(names_in(source))
    kept = tuple(p for p in given.parameters if p.name in known) if given else ()
    if not all(is_decision(p.name) for p in kept):
        kept = tuple(p for p in kept if not is_decision(p.name))
    space = SearchSpace(parameters=kept)
    mine = with_current(source, space).within(group) if kept else space
    return mine if mine.parameters else None


def _ordered(values: tuple[Value, ...]) -> tuple[Value, ...]:
    numbers = [value for value in values if type(value) is int]
    return tuple(sorted(numbers)) if len(numbers) == len(values) else values
