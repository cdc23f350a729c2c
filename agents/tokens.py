"""Counting tokens without asking the provider: what was sent, and what a run without pruning would carry on.

With tiktoken's data on this machine a real tokenizer counts (o200k_base, whatever the model). Nothing is downloaded:
without the data a token is taken to be `CHARACTERS` characters.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

ENCODING = "o200k_base"
SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Of the data: tiktoken would download anew what has another."""
DATA = f"https://openaipublic.blob.core.windows.net/encodings/{ENCODING}.tiktoken"
CHARACTERS = 3.5
"""In a token of o200k_base: 3.1 of our kernels, 3.8 of our prompts, 3.55 of all that a run sent (2026-12-01)."""
FRAMING = 4
"""Tokens that a message costs beside its text: its role, its bounds."""


class Counted(NamedTuple):
    """Tokens of one exchange."""

    sent: int
    """All of the request: messages and tools."""
    own: int
    """What this exchange adds to its conversation: the messages since the answer before, and the answer."""


def counted(messages: Sequence[BaseMessage], tools: Sequence[BaseTool], answer: AIMessage | None) -> Counted:
    """A request, as the provider is sent it, and its answer. System prompt and tools are nobody's own."""
    last = max((place for place, message in enumerate(messages) if isinstance(message, AIMessage)), default=-1)
    added = [message for message in messages[last + 1 :] if not isinstance(message, SystemMessage)]
    fixed = sum(_tool(tool) for tool in tools)
    own = sum(map(_message, added)) + (_message(answer) if answer else 0)
    return Counted(fixed + sum(map(_message, messages)), own)


def how() -> str:
    """How tokens are counted here, in words."""
    if tokenizer() is None:
        return f"{CHARACTERS:g} characters a token"
    return f"tiktoken, {ENCODING}"


@cache
def tokenizer() -> Callable[[str], int] | None:
    """A real tokenizer, if its data is there."""
    named = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    folder = Path(named) if named else Path(tempfile.gettempdir()) / "data-gym-cache"
    data = folder / hashlib.sha1(DATA.encode()).hexdigest()
    if not data.is_file() or hashlib.sha256(data.read_bytes()).hexdigest() != SHA256:
        return None
    try:
        import tiktoken
    except ImportError:
        return None
    encoding = tiktoken.get_encoding(ENCODING)
    return lambda text: len(encoding.encode_ordinary(text))


@lru_cache(maxsize=512)
def count(text: str) -> int:
    """Tokens of a text."""
    encode = tokenizer()
    return encode(text) if encode else round(len(text) / CHARACTERS)


def _message(message: BaseMessage) -> int:
    calls = [*message.tool_calls, *message.invalid_tool_calls] if isinstance(message, AIMessage) else []
    said = "".join(f"{call['name']}{json.dumps(call['args'])}" for call in calls)
    return FRAMING + count(message.text) + count(said)


def _tool(tool: BaseTool) -> int:
    return count(json.dumps(convert_to_openai_tool(tool)))
