"""The exchange log: every finished model answer, kept in the run folder and never asked for twice."""

from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage, message_to_dict, messages_from_dict
from pydantic import Field

from egg.state.record import Record
from egg.state.usage import Spend, Usage
from egg.tools.store import digest


class Exchange(Record):
    """One answer and its bill, as `exchanges/KEY.json`."""

    model: str
    role: str
    branch: str
    asked: tuple[dict[str, Any], ...] = Field(description="The messages of the request, without what identifies a run")
    answer: dict[str, Any] = Field(description="The answer in LangChain's own JSON form")
    spend: Spend

    @property
    def message(self) -> AIMessage:
        """The answer as it came."""
        message = messages_from_dict([self.answer])[0]
        assert isinstance(message, AIMessage)
        return message


class ExchangeLog:
    """The answers of one run. Each file is written whole or not at all."""

    def __init__(self, run_dir: str | Path) -> None:
        self.folder = Path(run_dir) / "exchanges"

    def find(self, key: str) -> Exchange | None:
        """The finished answer to this very request, if there is one."""
        path = self.folder / f"{key}.json"
        return Exchange.model_validate_json(path.read_text()) if path.exists() else None

    def keep(self, key: str, exchange: Exchange) -> None:
        """Keep a finished answer."""
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.folder / f"{key}.{uuid4().hex}.part"
        partial.write_text(exchange.model_dump_json(indent=1))
        partial.replace(self.folder / f"{key}.json")

    def models(self) -> dict[str, int]:
        """How many answers came from which model: more than one if a run was resumed with another."""
        return dict(Counter(_answer(path)[0] for path in sorted(self.folder.glob("*.json"))))

    def usage(self) -> Usage:
        """The bill of all answers so far, those of branches that run at the same time included."""
        bills = (_answer(path) for path in self.folder.glob("*.json"))
        return sum((Usage(by_agent={agent: spend}) for _, agent, spend in bills), Usage())


@lru_cache(maxsize=4096)
def _answer(path: Path) -> tuple[str, str, Spend]:
    """Its model, its agent, its bill."""
    exchange = Exchange.model_validate_json(path.read_text())
    return exchange.model, f"{exchange.branch}/{exchange.role}", exchange.spend


def asked(messages: list[AnyMessage]) -> tuple[dict[str, Any], ...]:
    """What of the messages decides the answer: everything but the ids that LangGraph draws at random."""
    return tuple(_essence(message) for message in messages)


def request_key(position: dict[str, Any], tools: list[dict[str, Any]], messages: list[AnyMessage]) -> str:
    """Name of a request. `position` says who asks where in the run, so that a second try is a second question."""
    return digest({"position": position, "tools": tools, "messages": asked(messages)})


def as_exchange(position: dict[str, Any], messages: list[AnyMessage], answer: AIMessage, spend: Spend) -> Exchange:
    """The record of an answer."""
    return Exchange(
        model=position["model"],
        role=position["role"],
        branch=position["branch"],
        asked=asked(messages),
        answer=message_to_dict(answer),
        spend=spend,
    )


def _essence(message: AnyMessage) -> dict[str, Any]:
    essence: dict[str, Any] = {"type": message.type, "text": message.text}
    if brief := message.additional_kwargs.get("brief"):
        essence["brief"] = brief
    if isinstance(message, AIMessage):
        essence["calls"] = [[call["id"], call["name"], call["args"]] for call in message.tool_calls]
        essence["invalid"] = [[call["id"], call["name"], call["args"]] for call in message.invalid_tool_calls]
    if isinstance(message, ToolMessage):
        essence |= {"call": message.tool_call_id, "artifact": message.artifact, "status": message.status}
    return essence
