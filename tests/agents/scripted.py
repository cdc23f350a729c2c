"""A chat model that answers from a list, and a kernel to submit."""

import json
from collections.abc import Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable

KERNEL = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    pass\n"


class Scripted(BaseChatModel):
    """Answers with the listed messages in order, whole or as a stream of tool-call chunks."""

    script: list[AIMessage]
    seen: list[list[BaseMessage]] = []

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self

    def _next(self, messages: list[BaseMessage]) -> AIMessage:
        self.seen.append(messages)
        return self.script[len(self.seen) - 1].model_copy(update={"id": None}, deep=True)

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        answer = self._next(messages)
        yield ChatGenerationChunk(message=AIMessageChunk(content=answer.text))
        for index, call in enumerate(answer.tool_calls):
            text = json.dumps(call["args"])
            half = len(text) // 2
            for part, start in ((text[:half], {"id": call["id"], "name": call["name"]}), (text[half:], {})):
                chunk = {"id": None, "name": None, "index": index, "args": part, "type": "tool_call_chunk", **start}
                yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))


def call(name: str, **args: Any) -> AIMessage:
    """An answer with one tool call."""
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"id-{name}", "type": "tool_call"}])
