"""What a rule sees, and what it answers."""

from typing import Any, NamedTuple, Self

from langchain_core.messages import BaseMessage, ToolMessage

from egg.state.device import Device
from egg.state.problem import Workload
from egg.tools.expert.spec import KernelSpec


class Call(NamedTuple):
    """A rule's answer: one tool call and the reason for it."""

    tool: str
    args: dict[str, Any]
    because: str


class Result(NamedTuple):
    """One tool's answer."""

    tool: str
    text: str
    artifact: dict[str, Any]
    """Empty if the tool refused."""


class Case(NamedTuple):
    """The conversation so far."""

    brief: dict[str, Any]
    results: tuple[Result, ...]

    @classmethod
    def read(cls, messages: list[BaseMessage]) -> Self:
        """The brief and the tool results in a conversation.

        Raises:
            ValueError: if no message carries a brief: the rulebook plays EGG's agents, and is no general model.
        """
        briefs = [m.additional_kwargs["brief"] for m in messages if "brief" in m.additional_kwargs]
        if not briefs:
            raise ValueError("the rulebook answers only messages that carry a brief")
        results = [Result(str(m.name), m.text, m.artifact or {}) for m in messages if isinstance(m, ToolMessage)]
        return cls(briefs[0], tuple(results))

    def last(self, tool: str) -> Result | None:
        """The latest result of a tool."""
        return next((result for result in reversed(self.results) if result.tool == tool), None)

    def decisions(self, which: str) -> KernelSpec | None:
        """The decisions of the kernel in force (`decisions`) or of the broken draft (`broken_decisions`)."""
        given = self.brief[which]
        return KernelSpec.model_validate(given) if given else None

    @property
    def device(self) -> Device:
        return Device.model_validate(self.brief["device"])

    @property
    def workload(self) -> Workload:
        return Workload.model_validate(self.brief["workload"])
