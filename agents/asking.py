"""Asking the model that plays a role, and knowing when to stop asking."""

from collections.abc import Sequence
from contextlib import suppress

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.config import get_stream_writer

from egg.agents.faults import Overflow
from egg.agents.presenting import shortened
from egg.agents.provider import ask, at_its_limit, refusal
from egg.state.backbone import Backbone
from egg.state.usage import Spend

SILENT = 4
"""Answers running without a tool call after which a model is given up."""


def ask_briefly(
    model: Runnable[LanguageModelInput, AIMessage],
    messages: Sequence[AnyMessage],
    backbone: Backbone,
    config: RunnableConfig,
    seconds: float,
    tools: Sequence[BaseTool] = (),
) -> tuple[AIMessage, Spend]:
    """The answer and its bill; asks once more with what is old left out, if the model cannot read that much.

    After `seconds` a fault is no longer waited out.

    Raises:
        UserError: for a provider fault that only the user can mend.
        ProviderFault: for any other that lasts.
    """
    try:
        return ask(model, messages, backbone, config, tell, seconds, tools)
    except Overflow as fault:
        tell("the conversation is too long for the model; asks again with its older parts left out")
        answer, spend = ask(model, shortened(messages), backbone, config, tell, seconds, tools)
        return answer, fault.spend + spend


def tell(text: str) -> None:
    """To whoever watches the run."""
    with suppress(RuntimeError):  # nobody does: not in a graph
        get_stream_writer()({"waits": text})


def hopeless(messages: Sequence[AnyMessage]) -> str | None:
    """Why there is no point in asking on: the model declines twice running, or goes on talking."""
    running: list[AIMessage] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            if message.tool_calls or message.invalid_tool_calls:
                break
            running.append(message)
    declined = [why for answer in running[:2] if (why := refusal(answer))]
    if len(declined) == 2:
        return f"the model declines: {declined[0]}"
    if len(running) >= SILENT and all(map(at_its_limit, running)):
        return "the model's answers are cut off at the cap on their length: raise --max-output, or lower --effort"
    return f"the model called no tool in {SILENT} answers running" if len(running) >= SILENT else None
