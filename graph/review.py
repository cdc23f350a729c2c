"""Nodes in which a person has the last word. Nothing else happens in them, so that nothing is done twice on resume."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import Overwrite

from egg.graph.nodes import fallback
from egg.graph.pausing import before_stage, on_run, on_stage, put
from egg.state.candidate import Candidate
from egg.state.ledger import Decision, Review, Verb
from egg.state.pause import Action, Answer
from egg.state.run import RunState, StageState

Update = dict[str, Any]


def ask_before(state: StageState, config: RunnableConfig) -> Update:
    """Ask whether the stage is to run."""
    answer = put(before_stage(state), state["run_dir"], config)
    if answer and answer.action is Action.REFUSE:
        return {"left_out": Review(action=Action.REFUSE, reason=answer.text)}
    return {"hints": (answer.text,)} if answer and answer.action is Action.HINT else {}


def review_stage(state: StageState, config: RunnableConfig) -> Update:
    """Ask whether the stage's decision is to stand; a hint is worth one round more."""
    decided = state["decided"]
    assert decided is not None  # the route here demands it
    answer = put(on_stage(state, decided), state["run_dir"], config)
    if answer and answer.action is Action.HINT:
        nothing: Update = dict.fromkeys(("decided", "plan", "draft", "diagnosis", "stopped"))
        anew: Update = {"round": state["round"] + 1, "repair": 0, "searching": False}  # a round is asked about once
        return {**nothing, **anew, "hints": (*state.get("hints", ()), answer.text)}
    if answer and answer.action is Action.REFUSE:
        before = state["opened_with"]
        return {"ledger": (refused(decided, answer, before),), "incumbent": Overwrite(before)}
    return {"ledger": (reviewed(decided, answer),)}


def review_run(state: RunState, config: RunnableConfig) -> Update:
    """Ask whether the choice among the seeds, or the result, is to stand."""
    decided = state["decided"]
    assert decided is not None  # the route here demands it
    answer = put(on_run(state, decided), state["run_dir"], config)
    if answer is None or answer.action is not Action.REFUSE:
        return {"decided": None, "ledger": (reviewed(decided, answer),)}
    update: Update = {"decided": None, "ledger": (line := refused(decided, answer, None),)}
    if "outcome" in state:
        return {**update, "outcome": fallback(state, f"{line.why}; the result is the reference module")}
    return {**update, "incumbent": Overwrite(None)}


def reviewed(decided: Decision, answer: Answer | None) -> Decision:
    """The decision as it stands: the same, or in the person's words. Its numbers and its kernel stay what they were."""
    if answer is None:
        return decided
    if answer.action is Action.APPROVE:
        return decided.model_copy(update={"review": Review(action=Action.APPROVE, reason=answer.text)})
    words = {"what": answer.what or decided.what, "why": answer.why or decided.why}
    was = f"{decided.what}; {decided.why}"
    return decided.model_copy(update={**words, "review": Review(action=Action.EDIT, reason=answer.text, was=was)})


def refused(decided: Decision, answer: Answer, before: Candidate | None) -> Decision:
    """The decision taken back: the kernel before it stays in force."""
    review = Review(action=Action.REFUSE, reason=answer.text, was=f"{decided.verb.value}: {decided.why}")
    why = f"a person refused it: {answer.text}" if answer.text else "a person refused it"
    kernel = before.id if before else None
    return decided.model_copy(update={"verb": Verb.REFUSED, "why": why, "kernel": kernel, "review": review})
