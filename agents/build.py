"""The three agents as subgraphs: brief, then model and tools in turn, until a submit tool was called."""

from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import ToolException
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolInvocationError

from egg.agents.backbone import chat_model
from egg.agents.brief import brief
from egg.agents.insight import insight
from egg.agents.loop import Agent, Factory, Update, last_answer, next_answer, submission
from egg.agents.sources import source_of
from egg.agents.toolbox.counting import hardware_counters
from egg.agents.toolbox.kernels import check_kernel, compile_kernel, expert_skeleton, static_profile
from egg.agents.toolbox.probing import guide, probe
from egg.agents.toolbox.submit import (
    change_does_not_pay,
    no_fix,
    not_worth_it,
    submit_diagnosis,
    submit_kernel,
    submit_plan,
)
from egg.state.candidate import Candidate
from egg.state.plan import Diagnosis, Plan
from egg.state.run import AgentInput, AgentState, CodeOutput, DebugOutput, ProfileOutput
from egg.state.search import SearchSpace

Graph = CompiledStateGraph[AgentState, None, AgentInput, Any]


def build_code_agent(factory: Factory = chat_model) -> Graph:
    """Writes or repairs a kernel: fills `draft`, or turns `plan` into one that is not worth it."""
    tools = (expert_skeleton, guide, compile_kernel, check_kernel, submit_kernel, change_does_not_pay)
    return _build(Agent("code", "draft", tools, ("submit_kernel", "change_does_not_pay"), factory), CodeOutput)


def build_profile_agent(factory: Factory = chat_model) -> Graph:
    """Finds the bottleneck and one change: fills `plan`."""
    tools = (static_profile, hardware_counters, guide, submit_plan, not_worth_it)
    return _build(Agent("profile", "plan", tools, ("submit_plan", "not_worth_it"), factory), ProfileOutput)


def build_debug_agent(factory: Factory = chat_model) -> Graph:
    """Explains a broken draft: fills `diagnosis`, which is None if the draft is to be dropped."""
    tools = (probe, compile_kernel, guide, submit_diagnosis, no_fix)
    return _build(Agent("debug", "diagnosis", tools, ("submit_diagnosis", "no_fix"), factory), DebugOutput)


def _build(agent: Agent, output: type[Any]) -> Graph:
    def start(state: AgentState) -> Update:
        broken = state.get("draft") if state.get("repair") else None  # any other draft is history
        known = insight(state)
        return {
            "messages": brief(agent.role, state, known),
            "stopped": None,
            "draft": broken,
            "bottlenecks": known.bottlenecks if known else (),
            "headroom": known.headroom if known else None,
        }

    def model(state: AgentState, config: RunnableConfig) -> Update:
        return next_answer(agent, state, config)

    def answer(state: AgentState) -> Update:
        submitted = submission(agent, state)
        assert submitted is not None  # the route here demands it
        if submitted["tool"] == change_does_not_pay.name:
            return {"draft": None, "plan": Plan.model_validate(submitted["plan"])}
        return {agent.field: _record(agent, state, submitted)}

    def after_model(state: AgentState) -> Literal["tools", "model", "__end__"]:
        if state.get("stopped"):
            return "__end__"
        latest = last_answer(state["messages"])
        return "tools" if latest and latest.tool_calls else "model"

    def after_tools(state: AgentState) -> Literal["answer", "model"]:
        return "answer" if submission(agent, state) is not None else "model"

    graph = StateGraph(AgentState, input_schema=AgentInput, output_schema=output)
    graph.add_node("brief", start)
    graph.add_node("model", model)
    graph.add_node("tools", ToolNode(list(agent.tools), handle_tool_errors=explain))
    graph.add_node("answer", answer)
    graph.add_edge(START, "brief")
    graph.add_edge("brief", "model")
    graph.add_conditional_edges("model", after_model, ["tools", "model", END])
    graph.add_conditional_edges("tools", after_tools, ["answer", "model"])
    graph.add_edge("answer", END)
    return graph.compile(name=agent.role)


def explain(fault: ToolException) -> str:
    """A tool's refusal as the model reads it. Only these are for the model: a broken machine stops the run."""
    if isinstance(fault, ToolInvocationError):
        wrong = fault.filtered_errors or fault.source.errors()
        return "; ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in wrong)
    return str(fault)


def _record(agent: Agent, state: AgentState, submitted: dict[str, Any]) -> Candidate | Plan | Diagnosis | None:
    """The submit tool's artifact as the record that the stage works with."""
    tool = submitted.pop("tool")
    if agent.role == "code":
        return Candidate(
            source=source_of(state, submitted["kernel"]),
            origin=state["branch"],
            structure=state["structure"],
            rationale=submitted["rationale"],
            space=SearchSpace.model_validate(space) if (space := submitted.get("space")) else None,
        )
    if agent.role == "profile":
        return Plan.model_validate(submitted)
    return None if tool == "no_fix" else Diagnosis.model_validate(submitted)
