"""Asking a person: LangGraph's `interrupt` with plain JSON both ways, and the questions that there are."""

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from egg.graph.decide import milliseconds
from egg.graph.routes import exhausted
from egg.state.ledger import Decision
from egg.state.pause import Action, Answer, Question
from egg.state.reducers import Ledger
from egg.state.run import RunState, StageState
from egg.tools.answers import keep_answer, recorded_answer
from egg.tools.clock import waited
from egg.tools.kept import mark_of

NO_PAUSE = "no_pause"
"""Key of the config's `configurable`: whoever resumes with it set is asked nothing more."""
DEAF = " (the rulebook reads no hints)"


def put(question: Question, run_dir: str, config: RunnableConfig) -> Answer | None:
    """The person's answer; None if nobody is to be asked any more. A replay is given the recorded one.

    Asks again, saying what was wrong, until the answer is one of those possible.
    A node may do nothing before it puts its question: LangGraph runs the node from its start when the answer comes.
    """
    if mark := mark_of(run_dir):
        return recorded_answer(mark.recording, question)
    fault: str | None = None
    while True:
        asked = question.model_copy(update={"fault": fault})
        try:
            answer = question.accept(interrupt(asked.model_dump(mode="json", exclude_none=True)))
        except GraphInterrupt:  # there is no answer yet
            if config["configurable"].get(NO_PAUSE):
                return None
            raise
        except ValueError as error:
            fault = str(error)
            continue
        waited(run_dir)
        keep_answer(run_dir, question, answer)
        return answer


def before_stage(state: StageState) -> Question:
    """Whether a stage is to run."""
    deaf = "" if state["settings"].with_model else DEAF
    return Question(
        kind="stage",
        stage=state["branch"],
        asks=f"{state['branch']} is about to start. Shall it?",
        goal=_goal(state),
        ledger=_lines(state["history"]),
        answers={
            Action.APPROVE: "run the stage",
            Action.HINT: f"run it, and show its agents TEXT{deaf}",
            Action.REFUSE: "leave the stage out",
        },
    )


def on_stage(state: StageState, decided: Decision) -> Question:
    """Whether a stage's decision is to stand."""
    hints, deaf = state.get("hints", ()), "" if state["settings"].with_model else DEAF
    answers = {Action.APPROVE: "let it stand", Action.EDIT: "let it stand in other words: TEXT"}
    incumbent = state["incumbent"]
    if incumbent is not None and incumbent.origin == state["branch"]:
        answers[Action.REFUSE] = "drop this kernel; what was in force before stays"
    if not exhausted(state):
        answers[Action.HINT] = f"one round more, in which the stage's agents see TEXT{deaf}"
    return _on(decided, answers, state["history"], goal=_goal(state), hints=hints)


def on_run(state: RunState, decided: Decision) -> Question:
    """Whether the choice among the seeds, or the run's result, is to stand."""
    answers = {Action.APPROVE: "let it stand", Action.EDIT: "let it stand in other words: TEXT"}
    if decided.kernel:
        answers[Action.REFUSE] = "deliver the reference module instead"
    return _on(decided, answers, state.get("ledger", ()))


def _on(
    decided: Decision, answers: dict[Action, str], history: Ledger, goal: str = "", hints: tuple[str, ...] = ()
) -> Question:
    return Question(
        kind="decision",
        stage=decided.stage,
        number=len(hints),
        asks=f"{decided.stage} {decided.verb.value}: {decided.what}. Shall it stand?",
        goal=goal,
        decision=decided.model_dump(mode="json"),
        ledger=_lines(history),
        hints=hints,
        answers=answers,
    )


def _goal(state: StageState) -> str:
    incumbent = state["incumbent"]
    start = f"Kernel in force: {incumbent.id}, {milliseconds(incumbent)}." if incumbent else "There is no kernel yet."
    structure = f" Structure: {state['structure']}." if incumbent is None else ""
    return f"{state['spec'].goal}{structure} {start}"


def _lines(ledger: Ledger) -> tuple[str, ...]:
    return tuple(f"{d.stage} {d.verb.value}: {d.what} ({d.evidence})" for d in ledger)
