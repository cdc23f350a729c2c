"""A conversation as providers accept it, and as a model with a short memory can read it."""

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, InvalidToolCall, ToolCall, ToolMessage
from langchain_core.utils.json import parse_partial_json

from egg.agents.provider import at_its_limit

LEFT_OUT = "(left out: the conversation got too long)"
RAW = "raw_arguments"
"""Where `egg.agents.openai_model` keeps what a streamed call said, by its index."""
LONG = 400
"""Characters of an argument or result that stay when a conversation has to be shortened."""


def presentable(messages: Any) -> list[AnyMessage]:
    """For APIs of tool calls: no empty answers or malformed arguments, which some servers send but do not take back."""
    return [_accepted(message) if isinstance(message, AIMessage) else message for message in messages]


def shortened(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The same with long arguments and results left out, except those of the latest answer."""
    last = max((place for place, message in enumerate(messages) if isinstance(message, AIMessage)), default=0)
    return [_brief(message) if place < last else message for place, message in enumerate(messages)]


def without_half_calls(answer: AIMessage) -> AIMessage:
    """The answer with calls that are not whole marked as malformed.

    LangChain mends the arguments of streamed calls, so that half a kernel would look like a whole one.
    """
    answer = _as_said(answer)
    if not at_its_limit(answer) or not (answer.tool_calls or answer.invalid_tool_calls):
        return answer
    if answer.invalid_tool_calls:
        cut = [_cut(call["name"], call["id"]) for call in answer.invalid_tool_calls]
        return answer.model_copy(update={"invalid_tool_calls": cut})
    *whole, last = answer.tool_calls
    return answer.model_copy(update={"tool_calls": whole, "invalid_tool_calls": [_cut(last["name"], last["id"])]})


def _as_said(answer: AIMessage) -> AIMessage:
    """The answer with its calls as their raw arguments have them, where those were kept."""
    if RAW not in answer.additional_kwargs:
        return answer
    said = answer.additional_kwargs[RAW]
    others = {name: value for name, value in answer.additional_kwargs.items() if name != RAW}
    raws = [said[index] for index in sorted(said, key=lambda index: (len(index), index))]
    mended = [raw for raw in raws if isinstance(_mended(raw), dict)]
    if len(mended) != len(answer.tool_calls):  # calls without arguments: which is whose cannot be told
        return answer.model_copy(update={"additional_kwargs": others})
    whole: list[ToolCall] = []
    invalid: list[InvalidToolCall] = list(answer.invalid_tool_calls)
    for call, raw in zip(answer.tool_calls, mended, strict=True):
        try:
            json.loads(raw, strict=False)
            whole.append(call)
        except ValueError as error:
            invalid.append(
                InvalidToolCall(name=call["name"], args=raw, id=call["id"], error=str(error), type="invalid_tool_call")
            )
    changes = {"additional_kwargs": others, "tool_calls": whole, "invalid_tool_calls": invalid}
    return answer.model_copy(update=changes)


def _mended(raw: str) -> Any:
    try:
        return parse_partial_json(raw)
    except ValueError:
        return None


def _cut(name: str | None, number: str | None) -> InvalidToolCall:
    why = "the answer was cut off at the cap on its length; say less, and name kernels by their ids"
    return InvalidToolCall(name=name, args="", id=number, error=why, type="invalid_tool_call")


def _accepted(answer: AIMessage) -> AIMessage:
    if answer.invalid_tool_calls:
        mended = [
            ToolCall(name=call["name"] or "unknown", args={}, id=call["id"], type="tool_call")
            for call in answer.invalid_tool_calls
        ]
        return answer.model_copy(update={"tool_calls": [*answer.tool_calls, *mended], "invalid_tool_calls": []})
    if not answer.content and not answer.tool_calls:
        return answer.model_copy(update={"content": "(nothing)"})
    return answer


def _brief(message: AnyMessage) -> AnyMessage:
    if isinstance(message, ToolMessage) and len(message.text) > LONG:
        return message.model_copy(update={"content": LEFT_OUT})
    if isinstance(message, AIMessage):
        calls = [ToolCall(**{**call, "args": _short(call["args"])}) for call in message.tool_calls]
        invalid = [{**call, **_short({"args": call["args"]})} for call in message.invalid_tool_calls]
        return message.model_copy(update={"tool_calls": calls, "invalid_tool_calls": invalid})
    return message


def _short(args: dict[str, Any]) -> dict[str, Any]:
    return {name: LEFT_OUT if len(str(value)) > LONG else value for name, value in args.items()}
