"""Tool calls as fenced blocks of plain text, for models that were not taught to call tools.

The tools, their schemas and what checks the arguments are the same; only how a call travels is another.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    InvalidToolCall,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from egg.agents.presenting import presentable
from egg.agents.prompting import render
from egg.agents.sources import fenced
from egg.state.backbone import Protocol

SOURCE = "source"
"""The argument that travels as a `python` block of its own: no model escapes a whole file well."""
BLOCK = re.compile(
    r"^(?P<fence>[ \t]*`{3,})[ \t]*(?P<language>[\w+-]*)[^\n`]*\n(?P<text>.*?)(?:^(?P=fence)[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
"""A block ends at the fence that it began with: one in a docstring is indented."""
TAG = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
"""How some families of open models write a call."""
THOUGHT = re.compile(r"^.*</think>", re.DOTALL)
CALLS, PYTHON = ("tool", "tool_call", "json", ""), ("python", "py")


class Block(NamedTuple):
    """A fenced block."""

    language: str
    text: str


class Parsed(NamedTuple):
    """An answer taken apart."""

    prose: str
    calls: list[ToolCall]
    invalid: list[InvalidToolCall]


def with_tools(
    model: BaseChatModel, tools: Sequence[BaseTool], protocol: Protocol
) -> Runnable[LanguageModelInput, AIMessage]:
    """The model with its tools, by either protocol."""
    if protocol == Protocol.TOOLS:
        return RunnableLambda(presentable) | model.bind_tools(tools)
    schemas = [convert_to_openai_tool(tool)["function"] for tool in tools]

    def write(messages: Any) -> list[BaseMessage]:
        return as_text(messages, schemas)

    def read(answer: AIMessage) -> AIMessage:
        prose, calls, invalid = parse(answer.text, schemas)
        return answer.model_copy(update={"content": prose, "tool_calls": calls, "invalid_tool_calls": invalid})

    return RunnableLambda(write) | model | RunnableLambda(read)


def as_text(messages: Sequence[BaseMessage], schemas: list[dict[str, Any]]) -> list[BaseMessage]:
    """The conversation without tool messages: system, then user and assistant in turn, as chat templates demand."""
    plain: list[BaseMessage] = [SystemMessage(render("text_protocol", tools=list(map(_described, schemas))))]
    for message in messages:
        if isinstance(message, SystemMessage):
            plain[0] = SystemMessage(f"{message.text}\n\n{plain[0].text}")
        elif isinstance(message, AIMessage):
            plain.append(AIMessage(_with_blocks(message)))
        else:
            told = f"Result of {message.name}:\n{message.text}" if isinstance(message, ToolMessage) else message.text
            last = plain[-1]
            if isinstance(last, HumanMessage):
                plain[-1] = HumanMessage(f"{last.text}\n\n{told}")
            else:
                plain.append(HumanMessage(told))
    return plain


def parse(text: str, schemas: list[dict[str, Any]]) -> Parsed:
    """The calls in an answer. A `python` block fills the `source` of the call before it, or else of the one after."""
    text = TAG.sub(lambda tag: f"\n```tool\n{tag.group(1)}\n```\n", THOUGHT.sub("", text))
    blocks = [Block(found["language"].lower(), found["text"]) for found in BLOCK.finditer(text)]
    prose = BLOCK.sub("", text).strip()
    calls: list[ToolCall] = []
    invalid: list[InvalidToolCall] = []
    spare: str | None = None
    for block in blocks:
        if block.language in PYTHON:
            waiting = calls[-1] if calls and _lacks_source(calls[-1], schemas) else None
            if waiting is None:
                spare = block.text
            else:
                waiting["args"][SOURCE] = block.text
        elif isinstance(call := _call(block, schemas), str):
            invalid.append(_invalid(block, call))
        elif call:
            calls.append(call)
            if spare is not None and _lacks_source(call, schemas):
                call["args"][SOURCE], spare = spare, None
    if spare is not None and not calls and not invalid:
        calls += _handed_in(spare, prose, schemas)
    return Parsed(prose, calls, invalid)


def _call(block: Block, schemas: list[dict[str, Any]]) -> ToolCall | str | None:
    """The call that a block makes, what is wrong with it, or None for a block that is none."""
    if block.language not in CALLS:
        return None
    meant = block.language.startswith("tool") or any(f'"{schema["name"]}"' in block.text for schema in schemas)
    try:
        given = json.loads(block.text, strict=False)  # a raw newline in a string is clear enough
        name = given.get("name") or given.get("tool")
        args: Any = next((given[key] for key in ("arguments", "args", "parameters") if key in given), {})
        args = json.loads(args, strict=False) if isinstance(args, str) else args
    except (ValueError, AttributeError) as error:
        return f"not a JSON object: {error}" if meant else None
    if not isinstance(name, str) or not isinstance(args, dict):
        return "a call has the keys `name` and `arguments`, an object" if meant else None
    return ToolCall(name=name, args=args, id=None, type="tool_call") if meant else None


def _invalid(block: Block, why: str) -> InvalidToolCall:
    named = re.search(r'"name"\s*:\s*"(\w+)"', block.text)
    name = named.group(1) if named else None
    return InvalidToolCall(name=name, args=block.text, id=None, error=why, type="invalid_tool_call")


def _handed_in(source: str, prose: str, schemas: list[dict[str, Any]]) -> list[ToolCall]:
    """Code and no call, as models answer that know nothing else: the kernel is handed in."""
    schema = next((s for s in schemas if s["name"].startswith("submit") and SOURCE in _parameters(s)), None)
    if schema is None or "ModelNew" not in source:
        return []
    said = prose.split("\n", 1)[0][:200] or "no reason given"
    args = {name: said for name in schema["parameters"].get("required", ()) if name != SOURCE}
    return [ToolCall(name=schema["name"], args={**args, SOURCE: source}, id=None, type="tool_call")]


def _lacks_source(call: ToolCall, schemas: list[dict[str, Any]]) -> bool:
    takes = any(schema["name"] == call["name"] and SOURCE in _parameters(schema) for schema in schemas)
    return takes and not call["args"].get(SOURCE)


def _parameters(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schema["parameters"].get("properties", {})
    return found


def _with_blocks(message: AIMessage) -> str:
    """An answer as the model would have written it."""
    parts: list[str] = [message.text]
    for call in message.tool_calls:
        args = dict(call["args"])
        source = args.pop(SOURCE) if "\n" in str(args.get(SOURCE, "")) else None
        parts.append(f"```tool\n{json.dumps({'name': call['name'], 'arguments': args})}\n```")
        if source is not None:
            parts.append(fenced(str(source)))
    parts += [f"```tool\n{(call['args'] or '').strip()}\n```" for call in message.invalid_tool_calls]
    return "\n\n".join(part for part in parts if part) or "(nothing)"


def _described(schema: dict[str, Any]) -> dict[str, Any]:
    """A tool for the prompt: name, description, and one line for each argument."""
    required = schema["parameters"].get("required", ())
    lines = []
    for name, given in _parameters(schema).items():
        needed = ", required" if name in required else ""
        lines.append(f"{name} ({_kind(given)}{needed}): {given.get('description', '')}".rstrip(": "))
    return {"name": schema["name"], "description": schema["description"], "arguments": lines}


def _kind(given: dict[str, Any]) -> str:
    if "enum" in given:
        return "one of " + ", ".join(map(str, given["enum"]))
    if "anyOf" in given:
        return " or ".join(str(one.get("type", "object")) for one in given["anyOf"])
    return str(given.get("type", "any"))
