"""What a model and its server can do, from one call for each thing and no retries."""

from collections.abc import Callable
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.tools import tool
from pydantic import BaseModel, Field

from egg.agents.backbone import chat_model, check_backbone
from egg.agents.faults import NoTools, ProviderFault, explain
from egg.agents.presenting import without_half_calls
from egg.agents.text_protocol import with_tools
from egg.state.backbone import Backbone, Protocol
from egg.state.finding import Finding
from egg.state.settings import Settings

LEFT, RIGHT = 17, 25
CALL_IT = f"Call the tool `add` with left = {LEFT} and right = {RIGHT}, and do nothing else."
COUNT = "Write the numbers from one to ten in words, one a line."
WORDS = "Name the capital of France."

T = TypeVar("T")
Fault = ProviderFault | NoTools
"""Of one call, which says nothing about the others."""


@tool
def add(left: int, right: int) -> int:
    """Add two numbers."""
    return left + right


class Capital(BaseModel):
    """A capital city."""

    city: str = Field(description="Its name")


def examine_model(settings: Settings) -> tuple[Finding, ...]:
    """Tools (else the text protocol), streaming, structured output and token counts of the code agent's model.

    Raises:
        UserError: unknown model, refused key, no such endpoint: nothing else can be found out then.
    """
    check_backbone(settings)
    backbone, model = settings.backbone("code"), chat_model(settings, "code")
    if backbone.is_rulebook:
        return (Finding(what="model", state="ok", told="the rulebook needs no provider"),)
    answers: list[AIMessage] = []

    def calls(protocol: Protocol) -> str | None:
        answer = with_tools(model, [add], protocol).invoke([HumanMessage(CALL_IT)])
        answers.append(answer)
        return _not_called(without_half_calls(answer))

    found = []
    wanted = backbone.protocol
    fault = _try(lambda: calls(wanted), backbone)
    found.append(_tools(wanted, fault))
    if fault and wanted == Protocol.TOOLS:
        wanted = Protocol.TEXT
        fault = _try(lambda: calls(wanted), backbone)
        found.append(_tools(wanted, fault))
    found.append(_streaming(_try(lambda: _streamed(model, answers), backbone)))
    found.append(_structured(_try(lambda: _unstructured(model), backbone)))
    found.append(_usage(answers))
    if not fault:
        found.append(Finding(what="use it", state="ok", told=_command(backbone, wanted)))
    return tuple(found)


def _try(work: Callable[[], T], backbone: Backbone) -> T | Fault:
    """What came of it.

    Raises:
        UserError: for a fault that has nothing to do with this call.
    """
    try:
        return work()
    except Exception as fault:  # provider clients share no base class
        known = explain(fault, backbone)
        if isinstance(known, Fault):
            return known
        raise known or fault from None


def _not_called(answer: AIMessage) -> str | None:
    if answer.invalid_tool_calls:
        return "the arguments of its call are not JSON"
    if not answer.tool_calls:
        return f"it answered without a call: {' '.join(answer.text.split())[:80] or 'nothing at all'}"
    call = answer.tool_calls[0]
    if call["name"] != "add" or (call["args"].get("left"), call["args"].get("right")) != (LEFT, RIGHT):
        return f"it called {call['name']} with {call['args']}"
    return None


def _streamed(model: BaseChatModel, answers: list[AIMessage]) -> int:
    """The number of parts that an answer comes in."""
    parts = 0
    whole: AIMessageChunk | None = None
    for chunk in model.stream([HumanMessage(COUNT)]):
        assert isinstance(chunk, AIMessageChunk)
        parts += bool(chunk.text)
        whole = chunk if whole is None else whole + chunk
    if whole is not None:
        answers.append(whole)
    return parts


def _unstructured(model: BaseChatModel) -> str | None:
    answer: Any = model.with_structured_output(Capital).invoke([HumanMessage(WORDS)])
    return None if isinstance(answer, Capital) else f"it answered {answer!r}"[:200]


def _tools(protocol: Protocol, fault: str | Fault | None) -> Finding:
    what = "tool calls" if protocol == Protocol.TOOLS else "text protocol"
    if fault is None:
        return Finding(what=what, state="ok", told="called a tool with the right arguments")
    if protocol == Protocol.TOOLS:
        return Finding(what=what, state="limited", told=str(fault), advice="the text protocol needs none, see below")
    return Finding(what=what, state="missing", told=str(fault), advice="EGG needs one of them: use another model")


def _streaming(parts: int | Fault) -> Finding:
    if isinstance(parts, Fault):
        advice = "LangGraph Studio streams: use the command or graph.invoke"
        return Finding(what="streaming", state="limited", told=str(parts), advice=advice)
    whole = f"the answer came in {parts} part{'s' if parts != 1 else ''}: it is shown when it is whole"
    return Finding(what="streaming", state="ok", told="the answer came in parts" if parts > 1 else whole)


def _structured(fault: str | Fault | None) -> Finding:
    if fault is None:
        return Finding(what="structured output", state="ok", told="the answer had the form asked for")
    return Finding(what="structured output", state="limited", told=f"{fault}; EGG asks for none")


def _usage(answers: list[AIMessage]) -> Finding:
    told = [answer for answer in answers if answer.usage_metadata]
    if answers and len(told) == len(answers):
        tokens = sum(answer.usage_metadata["total_tokens"] for answer in told if answer.usage_metadata)
        return Finding(what="token counts", state="ok", told=f"every answer says what it cost; {tokens} tokens here")
    why = f"{len(told)} of {len(answers)} answers say what they cost"
    return Finding(what="token counts", state="limited", told=why, advice="EGG estimates the others for its caps")


def _command(backbone: Backbone, protocol: Protocol) -> str:
    endpoint = f" --base-url {backbone.base_url}" if backbone.base_url else ""
    return f"egg optimize PROBLEM --model {backbone.model}{endpoint}" + (
        f" --protocol {protocol}" if protocol == Protocol.TEXT else ""
    )
