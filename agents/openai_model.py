"""langchain-openai's chat model, without three of its losses. Imported late: it takes more than a second."""

import json
from contextlib import suppress
from typing import Any

from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from egg.agents.presenting import RAW

PARSED = {"choices": {"__all__": {"message": {"parsed"}}}}
"""An object where structured output was asked for, which is no JSON."""


class OpenAIChat(ChatOpenAI):
    """Keeps why a streamed answer was refused, what a streamed call really said, and calls whose arguments are a list.

    The methods are langchain-openai's own and may be renamed: then a refusal is an empty answer, half a call is mended
    to look whole unless the answer says that it was cut off, and a list is asked for anew.
    """

    def _convert_chunk_to_generation_chunk(self, chunk: dict[str, Any], *rest: Any) -> ChatGenerationChunk | None:
        made = super()._convert_chunk_to_generation_chunk(chunk, *rest)
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            if made and (said := delta.get("refusal")):
                made.message.additional_kwargs["refusal"] = said
            for call in delta.get("tool_calls") or ():
                said = (call.get("function") or {}).get("arguments")
                if made and said:  # LangChain joins strings under the same key
                    made.message.additional_kwargs.setdefault(RAW, {})[str(call.get("index"))] = said
        return made

    def _create_chat_result(self, response: Any, *rest: Any) -> ChatResult:
        whole = response.model_dump(exclude=PARSED, warnings=False) if isinstance(response, BaseModel) else response
        with suppress(AttributeError, KeyError, TypeError):  # nothing that OpenAI would say: LangChain stumbles over it
            if _mark_lists(whole):
                response = whole
        return super()._create_chat_result(response, *rest)


def _mark_lists(response: dict[str, Any]) -> bool:
    """Make arguments that are JSON but no object malformed, which every part of LangChain can hold."""
    marked = False
    for choice in response.get("choices") or ():
        for call in (choice.get("message") or {}).get("tool_calls") or ():
            given = call.get("function", {}).get("arguments")
            try:
                is_object = not given or isinstance(json.loads(given), dict)
            except ValueError:
                continue
            if not is_object:
                call["function"]["arguments"] = f"no object: {given}"
                marked = True
    return marked
