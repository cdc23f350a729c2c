"""One agent's loop: ask the model, answer its malformed calls, and stop for a reason."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from egg.agents.asking import ask_briefly, hopeless
from egg.agents.backbone import asked_instead
from egg.agents.brief import with_facts
from egg.agents.exchange import Exchange, ExchangeLog, answered, question, request_key, stopped
from egg.agents.faults import ProviderFault
from egg.agents.offering import offered
from egg.agents.presenting import without_half_calls
from egg.agents.prices import check_priced
from egg.agents.prompting import render
from egg.agents.provider import at_its_limit
from egg.agents.replayed import replayed
from egg.agents.sources import expanded
from egg.agents.text_protocol import with_tools
from egg.state.backbone import Backbone, Role
from egg.state.run import AgentState
from egg.state.settings import Settings
from egg.state.usage import Spend, Usage
from egg.tools.clock import elapsed
from egg.tools.kept import mark_of
from egg.tools.store import Store

ANSWERS = 12
"""Answers that an agent may give before it has to have submitted."""

Update = dict[str, Any]
"""What a node writes to an agent's state."""

Factory = Callable[[Settings, Role], BaseChatModel]


class Agent(NamedTuple):
    """What distinguishes the three agents."""

    role: Role
    field: Literal["draft", "plan", "diagnosis"]
    """The key of the state that its answer fills."""
    tools: tuple[BaseTool, ...]
    submits: tuple[str, ...]
    """The tools that end its work."""
    factory: Factory


def next_answer(agent: Agent, state: AgentState, config: RunnableConfig) -> Update:
    """One model answer, from the exchange log if it was given before; or why there is none.

    Raises:
        UserError: for a provider fault that only the user can mend.
    """
    backbone = state["settings"].backbone(agent.role)
    given = sum(isinstance(message, AIMessage) for message in state["messages"])
    if given >= ANSWERS:
        return _stop(agent, f"the {agent.role} agent submitted nothing in {ANSWERS} answers")
    if why := hopeless(state["messages"]):
        return _stop(agent, why)
    tools_here = offered(agent.tools, state)
    agent = agent._replace(tools=tools_here, submits=tuple(t.name for t in tools_here if t.name in agent.submits))
    nudge = _nudge(agent, state["messages"], ANSWERS - given)
    messages = with_facts(agent.role, state, [*state["messages"], *nudge])
    tools = [convert_to_openai_tool(tool) for tool in agent.tools]
    position = {
        "model": backbone.model,
        "base_url": backbone.base_url,
        **backbone.model_dump(mode="json", exclude={"model", "base_url"}, exclude_defaults=True),
        "role": agent.role,
        **{name: state.get(name) for name in ("branch", "round", "repair")},
    }
    key, log = request_key(position, tools, messages), ExchangeLog(state["run_dir"])
    asking = question(position, tools, messages)
    exchange = log.find(key)
    if exchange is None:
        exchange = _outcome(agent, state, config, asking, messages)
        log.keep(key, exchange)
        if exchange.answer and not exchange.replayed:
            Store(state["run_dir"]).note("model", key)
    usage = Usage(by_agent={f"{state['branch']}/{agent.role}": exchange.spend} if exchange.spend != Spend() else {})
    if exchange.stopped:
        return {**_stop(agent, exchange.stopped), "usage": usage}
    answer = exchange.message
    return {"messages": [*nudge, answer, *complaints(answer)], "usage": usage}


def _outcome(
    agent: Agent, state: AgentState, config: RunnableConfig, asking: Exchange, messages: list[AnyMessage]
) -> Exchange:
    """What comes of a question that this run has no answer to yet: a recorded answer, the model's, or a reason."""
    settings = asked_instead(state["settings"], config)
    backbone = settings.backbone(agent.role)
    if not mark_of(state["run_dir"]) and (cap := _cap(state, backbone)):
        return stopped(asking, f"out of budget: {cap}")
    if recorded := replayed(state["run_dir"], backbone, asking):
        return recorded
    check_priced(settings)
    model = with_tools(agent.factory(settings, agent.role), agent.tools, backbone.protocol)
    try:
        shown = expanded(state, messages)
        answer, spend = ask_briefly(model, shown, backbone, config, _seconds_left(state), agent.tools)
    except ProviderFault as fault:
        return stopped(asking, f"the model provider failed: {fault}", fault.spend)
    return answered(asking, backbone.model, repaired(without_half_calls(answer), asking.number), spend)


def last_answer(messages: list[AnyMessage]) -> AIMessage | None:
    """The model's latest message."""
    return next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)


def submission(agent: Agent, state: AgentState) -> dict[str, Any] | None:
    """What the model handed in with its latest answer; the first counts if it called two submit tools at once."""
    for message in _since_answer(state["messages"]):
        if isinstance(message, ToolMessage) and message.name in agent.submits and message.status == "success":
            return {"tool": message.name, **message.artifact}
    return None


def repaired(answer: AIMessage, number: int) -> AIMessage:
    """The answer with a distinct id on every tool call; some servers send none, or the same twice."""
    seen: set[str] = set()
    calls = [*answer.tool_calls, *answer.invalid_tool_calls]
    for place, call in enumerate(calls):
        name = call["id"]
        if not name or name in seen:
            name = call["id"] = f"call-{number}-{place}"
        seen.add(name)
    return answer


def complaints(answer: AIMessage) -> list[ToolMessage]:
    """A reply to each call whose arguments are not JSON: providers refuse a conversation that leaves one open."""
    return [
        ToolMessage(
            f"the arguments are not a JSON object: {_gist(call['error']) or 'cut off'}. Call {call['name']} again.",
            name=call["name"] or "unknown",
            tool_call_id=call["id"],
            status="error",
        )
        for call in answer.invalid_tool_calls
    ]


def _gist(error: str | None) -> str:
    """What matters of a client's error, which repeats the arguments before it."""
    lines = [line for line in (error or "").splitlines() if line.strip() and not line.startswith("For troubleshooting")]
    return lines[-1][:200] if lines else ""


def _cap(state: AgentState, backbone: Backbone) -> str | None:
    """The cap that the run has reached. The state knows what came before a fork, the log what other branches spend.

    What models spent does not keep the rulebook from finishing its own seed, which is the least that a run delivers.
    """
    limits, minutes = state["settings"].limits, elapsed(state["run_dir"], state["elapsed_ms"]) / 60_000
    mine, all_branches = state["spent"] + state.get("usage", Usage()), ExchangeLog(state["run_dir"]).usage()
    if backbone.is_rulebook and all_branches.total.calls > all_branches.total.free:
        limits = limits.of_time
    return mine.over(limits, minutes) or all_branches.over(limits, minutes)


def _seconds_left(state: AgentState) -> float:
    """Of the run's wall time."""
    return state["settings"].limits.minutes * 60 - elapsed(state["run_dir"], state["elapsed_ms"]) / 1000


def _nudge(agent: Agent, messages: list[AnyMessage], left: int) -> list[AnyMessage]:
    """A reminder for a model that talks instead of calling tools, or that is running out of answers."""
    answer = last_answer(messages)
    silent = answer is not None and not (answer.tool_calls or answer.invalid_tool_calls)
    if not silent and left > 2:
        return []
    cut = silent and answer is not None and at_its_limit(answer)
    return [HumanMessage(render("nudge", silent=silent, cut=cut, left=left, submits=agent.submits))]


def _since_answer(messages: list[AnyMessage]) -> list[AnyMessage]:
    last = max((place for place, message in enumerate(messages) if isinstance(message, AIMessage)), default=-1)
    return messages[last + 1 :]


def _stop(agent: Agent, why: str) -> Update:
    return {"stopped": why, agent.field: None}
