"""Where a run goes next: pure functions from state to the name of a node."""

from typing import Literal, cast

from langgraph.types import Send

from egg.graph.stages import MAPPING, SEED
from egg.graph.unasked import unasked
from egg.state.reducers import Ledger
from egg.state.run import RunState, StageInput, StageState
from egg.state.stage import StageSpec
from egg.state.usage import Usage


def exhausted(state: RunState | StageState) -> str | None:
    """The cap that this run has reached, if any."""
    before = cast("StageState", state).get("spent", Usage())
    return (before + state.get("usage", Usage())).over(state["settings"].limits, state["elapsed_ms"] / 60_000)


def after_open(state: StageState) -> Literal["ask", "search", "profile", "code", "settle"]:
    """A person first, where one wants to be asked and there is anything left to spend."""
    return "ask" if state["settings"].pause.before_stages and not exhausted(state) else after_ask(state)


def after_ask(state: StageState) -> Literal["search", "profile", "code", "settle"]:
    """Numbers are searched by machine before anybody is asked; a structure is not a number."""
    if state.get("left_out"):
        return "settle"
    searchable = state["incumbent"] and state["spec"].group != "structure" and state["settings"].search
    return "search" if searchable and not exhausted(state) else begin(state)


def after_search(state: StageState) -> Literal["judge", "profile", "code", "settle"]:
    """Judge the best point; where none is better, ask the agents."""
    return "judge" if state.get("searching") else begin(state)


def begin(state: StageState) -> Literal["profile", "code", "settle"]:
    """A stage without an incumbent has nothing to profile: it drafts."""
    if exhausted(state) or unasked(state):
        return "settle"
    return "profile" if state["incumbent"] else "code"


def after_profile(state: StageState) -> Literal["code", "settle"]:
    """Code only what is worth it."""
    plan = state["plan"]
    return "code" if plan and plan.worth_it else "settle"


def after_code(state: StageState) -> Literal["judge", "settle"]:
    """Judge what was submitted."""
    return "settle" if state["stopped"] or state["draft"] is None else "judge"


def after_judge(state: StageState) -> Literal["search", "debug", "profile", "code", "settle"]:
    """The search's next best point if its best one failed; else repair what is broken, the next try, the decision."""
    if state.get("searching") and not exhausted(state):
        return "search"
    if state["repair"] and not exhausted(state):
        return "debug"
    return next_round(state)


def next_round(state: StageState) -> Literal["profile", "code", "settle"]:
    """Another try while the stage has one left."""
    return "settle" if state["round"] >= state["spec"].rounds else begin(state)


def after_debug(state: StageState) -> Literal["code", "abandon", "settle"]:
    """Code the fix; without one the draft is given up, and if the agent was stopped so is the stage."""
    if state["stopped"]:
        return "settle"
    return "code" if state["diagnosis"] else "abandon"


def after_settle(state: StageState) -> Literal["review", "__end__"]:
    """The stage is over unless a person is to look at its decision."""
    return "review" if state.get("decided") else "__end__"


def after_review(state: StageState) -> Literal["profile", "code", "settle", "__end__"]:
    """The stage is over unless a hint asks for one round more."""
    return begin(state) if state.get("decided") is None else "__end__"


def stage_input(state: RunState, spec: StageSpec, branch: str, structure: str) -> StageInput:
    """All that a stage may see of the run: the task, the ledger and the incumbent. No other stage's attempts."""
    return StageInput(
        run_dir=state["run_dir"],
        settings=state["settings"],
        problem=state["problem"],
        workload=state["workload"],
        device=state["device"],
        baseline=state["baseline"],
        spec=spec,
        branch=branch,
        structure=structure,
        history=ledger_of(state),
        spent=state.get("usage", Usage()),
        incumbent=state.get("incumbent"),
        elapsed_ms=state["elapsed_ms"],
    )


def ledger_of(state: RunState) -> Ledger:
    """The decisions so far."""
    return state.get("ledger", ())


def seeds(state: RunState) -> list[Send] | Literal["choose"]:
    """One branch per seed, each with a structure of its own. With an LLM the expert's own seed comes on top."""
    settings, structures = state["settings"], state["workload"].structures
    sends = [
        Send("seed", stage_input(state, SEED, f"seed-{number}", structure))
        for number, structure in enumerate(structures[: settings.seeds], start=1)
    ]
    if settings.with_model and structures:
        expert = stage_input(state, SEED, "seed-expert", structures[0])
        expert["settings"] = settings.by_rulebook()
        sends.append(Send("seed", expert))
    return sends or "choose"


def after_choose(state: RunState) -> list[Send] | Literal["review", "confirm"]:
    """A person looks at the choice, or tuning begins."""
    return "review" if state.get("decided") else cast("list[Send] | Literal['confirm']", enter(MAPPING)(state))


def after_confirm(state: RunState) -> Literal["review", "report"]:
    """A person looks at the result, or it is reported."""
    return "review" if state.get("decided") else "report"


def after_run_review(state: RunState) -> list[Send] | Literal["confirm", "report"]:
    """Where the run would have gone without being asked."""
    return "report" if "outcome" in state else cast("list[Send] | Literal['confirm']", enter(MAPPING)(state))


def enter(spec: StageSpec):  # type: ignore[no-untyped-def]
    """The route into a tuning stage, or past all of them when there is nothing to tune or nothing left to spend."""

    def route(state: RunState) -> list[Send] | Literal["confirm"]:
        incumbent = state.get("incumbent")
        if incumbent is None or exhausted(state):
            return "confirm"
        return [Send(spec.name, stage_input(state, spec, spec.name, incumbent.structure))]

    return route
