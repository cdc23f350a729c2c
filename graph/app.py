"""The state machine of EGG, wired.

`graph` is what LangGraph Studio loads: it has no checkpointer, because the server brings its own.
"""

from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from egg.graph.nodes import baseline, choose, confirm, intake, report
from egg.graph.review import review_run
from egg.graph.routes import after_choose, after_confirm, after_run_review, enter, seeds
from egg.graph.stage import build_stage
from egg.graph.stages import MEMORY, TILING, TUNING
from egg.state.run import RunInput, RunState

Machine = CompiledStateGraph[RunState, None, RunInput, RunState]


def build_graph(checkpointer: BaseCheckpointSaver[Any] | None = None) -> Machine:
    """The whole run as a compiled graph.

    Start one with `graph.invoke({"problem_file": path}, {"configurable": {"thread_id": name}})`; go on after a crash
    with `graph.invoke(None, config)`. One thread is one run. With `pause` set it returns where a person is asked: go on
    with `graph.invoke(Command(resume=answer), config)`, or `resume={interrupt.id: answer, ...}` for several questions.

    Raises:
        UserError: from `invoke`, for input that a person can mend; nothing has been written then.
    """
    stage = build_stage()
    machine = StateGraph(RunState, input_schema=RunInput, output_schema=RunState)
    machine.add_node("intake", intake, input_schema=RunInput)
    machine.add_node("baseline", baseline)
    machine.add_node("seed", stage)
    machine.add_node("choose", choose)
    for spec in TUNING:
        machine.add_node(spec.name, stage)
    machine.add_node("confirm", confirm)
    machine.add_node("review", review_run)
    machine.add_node("report", report)

    machine.add_edge(START, "intake")
    machine.add_edge("intake", "baseline")
    machine.add_conditional_edges("baseline", seeds, ["seed", "choose"])
    machine.add_edge("seed", "choose")
    machine.add_conditional_edges("choose", after_choose, ["review", "mapping", "confirm"])
    machine.add_conditional_edges("mapping", enter(TILING), ["tiling", "confirm"])
    machine.add_conditional_edges("tiling", enter(MEMORY), ["memory", "confirm"])
    machine.add_edge("memory", "confirm")
    machine.add_conditional_edges("confirm", after_confirm, ["review", "report"])
    machine.add_conditional_edges("review", after_run_review, ["mapping", "confirm", "report"])
    machine.add_edge("report", END)
    return machine.compile(checkpointer=checkpointer, name="egg")


graph = build_graph()
