"""The exchange log: what every agent asked and was answered, kept in the run folder and never asked for twice."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage, message_to_dict, messages_from_dict
from pydantic import Field

from egg.state.backbone import RULEBOOK
from egg.state.record import Record
from egg.state.usage import Spend, Usage
from egg.tools.clock import elapsed
from egg.tools.lines import append, read
from egg.tools.redaction import redacted
from egg.tools.store import digest

FILE = "exchanges.jsonl"
AS_JSON = ("brief", "artifact")
"""What of a message only the rulebook reads."""
Place = tuple[str, str, int, int, int]
"""Where in a run an agent asks: branch, role, round, repair, and how many answers it has had."""


class Exchange(Record):
    """One question and its answer, a line of `exchanges.jsonl`; or why there was none."""

    key: str = Field("", description="Digest of the whole request")
    time: str = Field("", description="When the answer had come; UTC")
    elapsed_ms: int = Field(0, description="How long the run had been at work then")
    model: str = Field(description="What answered: `rulebook`, or `PROVIDER:NAME`")
    role: str
    branch: str
    round: int = 0
    repair: int = 0
    number: int = Field(0, description="Answers that the agent had had before")
    tools: dict[str, str] = Field(default_factory=dict, description="Digest of each tool's schema, by name")
    asked: tuple[dict[str, Any], ...] = Field(
        description="The messages since the answer before, without what identifies a run; kernels by their ids"
    )
    answer: dict[str, Any] | None = Field(None, description="The answer in LangChain's own JSON form")
    stopped: str | None = Field(None, description="Why the agent was stopped here instead of getting an answer")
    spend: Spend = Spend()
    replayed: bool = Field(False, description="Whether it was taken from the recording of another run")

    @property
    def message(self) -> AIMessage:
        """The answer as it came."""
        assert self.answer is not None
        message = messages_from_dict([self.answer])[0]
        assert isinstance(message, AIMessage)
        return message

    @property
    def place(self) -> Place:
        """Where in its run it was asked."""
        return self.branch, self.role, self.round, self.repair, self.number


class ExchangeLog:
    """The exchanges of one run. A line is on the disk before the run goes on; secrets are not in it."""

    def __init__(self, run_dir: str | Path) -> None:
        self.run_dir = str(run_dir)
        self.path = Path(run_dir) / FILE
        self._older = Path(run_dir) / "exchanges"
        """Where runs begun before there were lines keep theirs, a file each."""

    def find(self, key: str) -> Exchange | None:
        """The finished answer to this very request, if there is one."""
        path = self._older / f"{key}.json"
        if path.exists():
            return Exchange.model_validate_json(path.read_text())
        return next((each for each in self._lines() if each.key == key and each.answer is not None), None)

    def keep(self, key: str, exchange: Exchange) -> None:
        """Keep an exchange; it is safe once this returns."""
        now = {"time": datetime.now(UTC).isoformat(timespec="seconds"), "elapsed_ms": elapsed(self.run_dir, 0)}
        append(self.path, redacted(exchange.model_copy(update={"key": key, **now}).model_dump(mode="json")))

    def all(self) -> list[Exchange]:
        """Every exchange, in the order in which they were finished."""
        older = [Exchange.model_validate_json(path.read_text()) for path in sorted(self._older.glob("*.json"))]
        return [*older, *self._lines()]

    def models(self) -> dict[str, int]:
        """How many answers came from which model: more than one if a run was resumed with another."""
        answers = (each for each in self.all() if each.answer is not None)
        return dict(Counter(f"{each.model}, replayed" if each.replayed else each.model for each in answers))

    def usage(self) -> Usage:
        """The bill of all exchanges so far, those of branches that run at the same time included."""
        return sum((Usage(by_agent={f"{each.branch}/{each.role}": each.spend}) for each in self.all()), Usage())

    def _lines(self) -> tuple[Exchange, ...]:
        return read(self.path, Exchange)


def asked(messages: Sequence[AnyMessage]) -> tuple[dict[str, Any], ...]:
    """What of the messages decides the answer: everything but the ids that LangGraph draws at random."""
    return tuple(_essence(message) for message in messages)


def request_key(position: dict[str, Any], tools: list[dict[str, Any]], messages: list[AnyMessage]) -> str:
    """Name of a request. `position` says who asks where in the run, so that a second try is a second question."""
    return digest({"position": position, "tools": tools, "messages": asked(messages)})


def question(position: dict[str, Any], tools: list[dict[str, Any]], messages: list[AnyMessage]) -> Exchange:
    """The record of a request, with no answer yet."""
    last = max((place for place, message in enumerate(messages) if isinstance(message, AIMessage)), default=-1)
    latest = asked(messages[last + 1 :])
    if position["model"] != RULEBOOK:  # no provider is sent the same as JSON
        latest = tuple({name: value for name, value in each.items() if name not in AS_JSON} for each in latest)
    return Exchange(
        **{name: position[name] for name in ("model", "role", "branch")},
        **{name: position.get(name) or 0 for name in ("round", "repair")},
        number=sum(isinstance(message, AIMessage) for message in messages),
        tools={tool["function"]["name"]: digest(tool)[:12] for tool in tools},
        asked=latest,
    )


def answered(asking: Exchange, model: str, answer: AIMessage, spend: Spend) -> Exchange:
    """The request with its answer, its bill, and the model that gave it."""
    return asking.model_copy(update={"model": model, "answer": message_to_dict(answer), "spend": spend})


def stopped(asking: Exchange, why: str, spend: Spend | None = None) -> Exchange:
    """The request that got no answer, and what the attempts cost."""
    return asking.model_copy(update={"stopped": why, "spend": spend or Spend()})


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
