"""The search node of a tuning stage: numbers are found by machine, and the choice goes to the judge like any draft."""

from typing import Any, cast

from egg.agents.insight import insight
from egg.graph.work import on_gpu, work
from egg.state.candidate import Candidate
from egg.state.errors import MachineError
from egg.state.plan import Plan
from egg.state.record import Record
from egg.state.run import AgentState, StageState
from egg.state.search import CONTENDERS, Contender, Searched, SearchLimits, spelled
from egg.state.settings import Settings
from egg.tools.artefacts import save_search
from egg.tools.clock import elapsed
from egg.tools.diagnosis import nothing_left
from egg.tools.store import Store
from egg.tools.tune.apply import sources
from egg.tools.tune.kernel import tune_kernel

ESTIMATE_WORTH = 0.05
"""What the estimate must promise, so that the judge is asked: it is no better than that within one kernel."""

Update = dict[str, Any]


class Written(Record):
    """The kernel of a point."""

    source: str


def search(state: StageState) -> Update:
    """Search once, then hand out the best point that the judge has not seen; no draft if there is none.

    Entered again after a kill, it finds every finished point kept; entered again after a failed verdict, it hands out
    the next best.
    """
    with on_gpu(state["run_dir"], state["branch"]):
        searched = state.get("searched") or _searched(state)
    update: Update = {"searched": searched, "searching": False, "draft": None, "plan": None}
    if searched.contenders:
        best, *others = searched.contenders
        update |= _draft(state, searched, best)
        update["searched"] = searched.model_copy(update={"contenders": tuple(others)})
    took = work(state["run_dir"], state["branch"])
    return {**update, "elapsed_ms": elapsed(state["run_dir"], state["elapsed_ms"]), "usage": took}


def _searched(state: StageState) -> Searched:
    question = {"stage": state["branch"], "kernel": state["incumbent"].id if state["incumbent"] else None}
    return Store(state["run_dir"]).witness("search", question, Searched, lambda: _search(state))


def _search(state: StageState) -> Searched:
    incumbent, group = state["incumbent"], state["spec"].group
    assert incumbent is not None  # the route here demands it
    known = insight(cast(AgentState, state))
    if known and (why := nothing_left(known.bottlenecks, known.headroom, group, state["spec"].min_gain)):
        return Searched(told=f"no search: {why}")
    try:
        result = tune_kernel(
            state["problem"],
            incumbent.source,
            state["device"],
            state["settings"].policy,
            Store(state["run_dir"], witnessing=False),
            workload=state["workload"],
            given=incumbent.space,
            group=group,
            profile=incumbent.evaluation.profile if incumbent.evaluation else None,
            limits=_limits(state["settings"], state["elapsed_ms"]),
        )
    except MachineError as error:  # the kernel in force has its verdict; that it cannot be timed now costs the search
        return Searched(told=f"no search: {error}")
    if result is None:
        return Searched(told=f"machine search: the kernel has no {group} numbers to choose")
    save_search(state["run_dir"], state["branch"], result)
    least = state["spec"].min_gain if result.measured else max(state["spec"].min_gain, ESTIMATE_WORTH)
    worth = [point for place in result.ranking if result.gain(point := result.points[place]) >= least]
    contenders = (Contender(values=p.values, change=spelled(result.changes(p))) for p in worth[:CONTENDERS])
    return Searched(told=result.told(), seconds=result.seconds, contenders=tuple(contenders))


def _draft(state: StageState, searched: Searched, best: Contender) -> Update:
    """The kernel of a point, and as its plan what the search has to say for it."""
    incumbent = state["incumbent"]
    assert incumbent is not None
    store, policy = Store(state["run_dir"]), state["settings"].policy

    def write() -> Written:
        (source,) = sources(state["problem"], incumbent.source, [best.values], state["device"], policy, store)
        assert source is not None  # it was compiled
        return Written(source=source)

    source = store.witness("point", {"kernel": incumbent.id, "values": best.values}, Written, write).source
    change = f"{best.change} (machine search)"
    draft = Candidate(
        source=source,
        origin=state["branch"],
        structure=incumbent.structure,
        rationale=change,
        space=incumbent.space,
    )
    return {"draft": draft, "plan": Plan(worth_it=True, change=change, why=searched.told), "searching": True}


def _limits(settings: Settings, elapsed_ms: int) -> SearchLimits:
    """The stage's caps, and no more time than the run has left."""
    left = settings.limits.minutes * 60 - elapsed_ms / 1000
    limits = settings.search_limits
    return limits.model_copy(update={"seconds": max(1.0, min(limits.seconds, left))})
