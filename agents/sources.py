"""Kernels by reference: a model that has seen or sent a source names it by its id instead of sending it again.

It spares an LLM thousands of output tokens a round, and keeps a checkpoint from holding one source many times.
"""

import re
from collections.abc import Iterator

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import ToolException

from egg.state.candidate import kernel_id
from egg.state.run import AgentState

ID = re.compile(r"[0-9a-f]{12}")
FENCE = re.compile(r"^```(?:python|py)?\n(.*?)^```", re.DOTALL | re.MULTILINE)


def tidy(source: str) -> str:
    """The source with one newline at its end and none before its first line; ids are always of this form."""
    return source.strip("\n") + "\n"


def fenced(source: str) -> str:
    """The source as a Markdown block; `source_of` finds it again to the letter."""
    return f"```python\n{tidy(source)}```"


def source_of(state: AgentState, given: str) -> str:
    """The source that a model means by a whole file, a fenced file or an id.

    Raises:
        ToolException: if no kernel of this conversation has the id.
    """
    wanted = given.strip()
    if ID.fullmatch(wanted):
        found = next((source for source in _sources(state) if kernel_id(source) == wanted), None)
        if found is None:
            raise ToolException(f"no kernel {wanted} in this conversation; send the whole file as `source`")
        return found
    return _whole(given)


def _whole(given: str) -> str:
    block = FENCE.match(given.lstrip())
    return tidy(block.group(1) if block else given)


def _sources(state: AgentState) -> Iterator[str]:
    """Every kernel that the model has seen, newest first."""
    for message in reversed(state["messages"]):
        if isinstance(message, ToolMessage):
            yield from FENCE.findall(message.text)
        elif isinstance(message, AIMessage):
            sent = [call["args"].get("source") for call in message.tool_calls]
            yield from (_whole(source) for source in sent if isinstance(source, str))
    yield from (kernel.source for kernel in (state.get("draft"), state.get("incumbent")) if kernel)
