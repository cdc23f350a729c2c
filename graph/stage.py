"""The stage subgraph: search -> profile -> code -> judge, with repair, next try and roll back as conditional edges.

Seeds and tuning stages are this one graph with different `StageSpec`s. Its state is private; only `StageOutput`,
the decision and the kernel in force, reaches the run.
"""

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from egg.agents.build import build_code_agent, build_debug_agent, build_profile_agent
from egg.graph.decide import accepts, attempt, decision, frozen_violation
from egg.graph.review import ask_before, review_stage
from egg.graph.routes import (
    after_ask,
    after_code,
    after_debug,
    after_judge,
    after_open,
    after_profile,
    after_review,
    after_search,
    after_settle,
    next_round,
)
from egg.graph.search import search
from egg.graph.work import on_gpu, work
from egg.state.evaluation import Evaluation, Status
from egg.state.run import StageInput, StageOutput, StageState
from egg.tools.artefacts import save_kernel
from egg.tools.clock import elapsed
from egg.tools.judge import judge
from egg.tools.store import Store

Update = dict[str, Any]
"""What a node changes of its stage's state."""


def open_stage(state: StageState) -> Update:
    """Start with nothing tried; what the agents may see came with the Send."""
    nothing: Update = dict.fromkeys(("plan", "draft", "diagnosis", "stopped", "searched", "left_out", "decided"))
    before = state["incumbent"] if state["settings"].pause.on_decisions else None  # a person may want it back
    now = elapsed(state["run_dir"], state["elapsed_ms"])
    begun: Update = {"round": 0, "repair": 0, "searching": False, "elapsed_ms": now, "opened_ms": now}
    return {**nothing, **begun, "hints": (), "opened_with": before}


def judge_draft(state: StageState) -> Update:
    """Give the draft its verdict, and make it the incumbent if it earns that."""
    draft, incumbent, spec = state["draft"], state["incumbent"], state["spec"]
    assert draft is not None  # the route here demands it
    save_kernel(state["run_dir"], draft)
    if broken := frozen_violation(spec, incumbent, draft):
        evaluation = Evaluation(status=Status.REJECTED, feedback=broken, mode="static")
    else:
        with on_gpu(state["run_dir"], state["branch"]):
            evaluation = judge(
                state["problem"],
                draft.source,
                state["device"],
                state["settings"].policy,
                Store(state["run_dir"]),
            )
    judged = draft.model_copy(update={"evaluation": evaluation})
    searching = state.get("searching", False)  # a point is neither repaired nor does it cost a round
    last_repair = evaluation.ok or searching or state["repair"] >= spec.repairs
    update: Update = {
        "draft": judged,
        "attempts": (attempt(judged, state["plan"], state["round"]),),
        "round": state["round"] + (last_repair and not searching),
        "repair": 0 if last_repair else state["repair"] + 1,
        "plan": None if last_repair else state["plan"],
        "diagnosis": None,
        "searching": searching and not evaluation.ok,
        "elapsed_ms": elapsed(state["run_dir"], state["elapsed_ms"]),
        "usage": work(state["run_dir"], state["branch"]),
    }
    if accepts(spec, incumbent, judged):
        update["incumbent"] = judged
    return update


def abandon(state: StageState) -> Update:
    """Nobody knows a fix: the round is over, and the next one starts from the incumbent."""
    return {"round": state["round"] + 1, "repair": 0, "plan": None, "draft": None, "diagnosis": None}


def settle(state: StageState) -> Update:
    """Write the decision, or put it before a person. Messages, broken kernels and profiler output end here."""
    decided = decision(state)
    asked = state["settings"].pause.on_decisions and not state.get("left_out")
    now = elapsed(state["run_dir"], state["elapsed_ms"])
    took = work(state["run_dir"], state["branch"], now - state.get("opened_ms", now))
    ended: Update = {"elapsed_ms": now, "opened_ms": now, "usage": took}
    return {**ended, "decided": decided} if asked else {**ended, "ledger": (decided,)}


def build_stage() -> CompiledStateGraph[StageState, None, StageInput, StageOutput]:
    """The compiled stage subgraph."""
    graph = StateGraph(StageState, input_schema=StageInput, output_schema=StageOutput)
    graph.add_node("open", open_stage)
    graph.add_node("ask", ask_before)
    graph.add_node("search", search)
    graph.add_node("profile", build_profile_agent())
    graph.add_node("code", build_code_agent())
    graph.add_node("debug", build_debug_agent())
    graph.add_node("judge", judge_draft)
    graph.add_node("abandon", abandon)
    graph.add_node("settle", settle)
    graph.add_node("review", review_stage)
    graph.add_edge(START, "open")
    graph.add_conditional_edges("open", after_open, ["ask", "search", "profile", "code", "settle"])
    graph.add_conditional_edges("ask", after_ask, ["search", "profile", "code", "settle"])
    graph.add_conditional_edges("search", after_search, ["judge", "profile", "code", "settle"])
    graph.add_conditional_edges("profile", after_profile, ["code", "settle"])
    graph.add_conditional_edges("code", after_code, ["judge", "settle"])
    graph.add_conditional_edges("judge", after_judge, ["search", "debug", "profile", "code", "settle"])
    graph.add_conditional_edges("debug", after_debug, ["code", "abandon", "settle"])
    graph.add_conditional_edges("abandon", next_round, ["profile", "code", "settle"])
    graph.add_conditional_edges("settle", after_settle, ["review", END])
    graph.add_conditional_edges("review", after_review, ["profile", "code", "settle", END])
    return graph.compile(name="stage")
