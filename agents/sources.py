"""Kernels by reference: a conversation holds a kernel's id; the source is put in only for the eyes of the model.

A checkpoint then holds each source once, and a model that has seen a kernel need not send it again, which spares an LLM
thousands of output tokens a round.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.tools import ToolException

from egg.state.candidate import kernel_id
from egg.state.run import AgentState
from egg.tools.expert import without_stale

ID = re.compile(r"[0-9a-f]{12}")
REFERENCE = re.compile(r"^\[\[kernel ([0-9a-f]{12})\]\]$", re.MULTILINE)
FENCE = re.compile(r"^(`{3,})(?:python|py)?\n(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)


def tidy(source: str) -> str:
    """The source with one newline at its end and none before its first line; ids are always of this form."""
    return source.strip("\n") + "\n"


def fenced(source: str) -> str:
    """The source as a Markdown block, within a fence that no line of it can end."""
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"^`+", source, re.MULTILINE)), default=0))
    return f"{fence}python\n{tidy(source)}{fence}"


def reference(source: str) -> str:
    """What stands for the source in a conversation, on a line of its own."""
    return f"[[kernel {kernel_id(source)}]]"


def keep(state: AgentState, source: str) -> str:
    """Save a source that a tool made, as `drafts/ID.py` of the run folder, and return its reference."""
    path = _path(state, kernel_id(source))
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{uuid4().hex}.part")
    partial.write_text(source)
    partial.replace(path)
    return reference(source)


def expanded(state: AgentState, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The messages with every known reference replaced by its source."""

    def source(match: re.Match[str]) -> str:
        found = _find(state, match.group(1))
        return fenced(found) if found else match.group(0)

    return [
        message.model_copy(update={"content": REFERENCE.sub(source, message.content)})
        if isinstance(message.content, str) and not isinstance(message, AIMessage)
        else message
        for message in messages
    ]


def source_of(state: AgentState, given: str) -> str:
    """The source that a model means by a whole file, a fenced file or an id.

    Raises:
        ToolException: if no kernel of this conversation has the id.
    """
    wanted = given.strip()
    if not ID.fullmatch(wanted):
        return _whole(given)
    found = _find(state, wanted)
    if found is None:
        raise ToolException(f"no kernel {wanted} in this conversation; send the whole file as `source`")
    return found


def _find(state: AgentState, wanted: str) -> str | None:
    path = _path(state, wanted)
    if path.exists():
        return path.read_text()
    return next((source for source in _sources(state) if kernel_id(source) == wanted), None)


def _path(state: AgentState, name: str) -> Path:
    return Path(state["run_dir"]) / "drafts" / f"{name}.py"


def _whole(given: str) -> str:
    block = FENCE.match(given.lstrip())
    return without_stale(tidy(block.group(2) if block else given))


def _sources(state: AgentState) -> Iterator[str]:
    """The kernels in play, and those that the model has sent."""
    yield from (kernel.source for kernel in (state.get("draft"), state.get("incumbent")) if kernel)
    for message in reversed(state["messages"]):
        sent = [call["args"].get("source") for call in message.tool_calls] if isinstance(message, AIMessage) else []
        yield from (_whole(source) for source in sent if isinstance(source, str))
