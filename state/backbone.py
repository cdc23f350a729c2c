"""Which model plays a role, and how it is asked."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from egg.state.record import Record

RULEBOOK = "rulebook"
"""The built-in expert's name as a model."""

REPLAY = "replay"
"""`replay:RUN` as a model: the answers that a run's agents were given."""

Role = Literal["code", "profile", "debug"]
ROLES: tuple[Role, ...] = ("code", "profile", "debug")


class Protocol(StrEnum):
    """How a model calls tools."""

    TOOLS = "tools"
    """By the provider's own tool calls."""
    TEXT = "text"
    """By fenced blocks in plain text, for models that were not taught tool calls."""


class Sampling(Record):
    """What may be asked of any model; what is None is left to the provider."""

    temperature: float | None = Field(None, ge=0, le=2, description="Sampling temperature")
    effort: str | None = Field(
        None, min_length=1, description="Reasoning effort in the provider's own words: low, medium, high, ..."
    )
    max_output: int | None = Field(None, ge=1, description="Cap on the tokens of one answer")


class Backbone(Sampling):
    """One role's model."""

    model: str
    base_url: str | None = None
    protocol: Protocol = Protocol.TOOLS

    @property
    def provider(self) -> str:
        """`openai` of `openai:gpt-5.1`."""
        return self.model.partition(":")[0]

    @property
    def name(self) -> str:
        """`gpt-5.1` of `openai:gpt-5.1`; empty for the rulebook."""
        return self.model.partition(":")[2]

    @property
    def is_rulebook(self) -> bool:
        return self.model == RULEBOOK

    @property
    def is_replay(self) -> bool:
        """Whether a recording answers, not a model."""
        return self.provider == REPLAY


class RoleBackbone(Sampling):
    """What is different for one role; the rest is as for the run."""

    model: str | None = Field(None, description="`rulebook`, or `PROVIDER:NAME`")
    base_url: str | None = Field(None, description="Endpoint; the run's, if that is of the same provider")
    protocol: Protocol | None = Field(None, description="`tools` or `text`")

    def over(self, run: Backbone) -> Backbone:
        """The role's backbone, given the run's. A model of another provider takes over neither endpoint nor options."""
        mine = self.model_dump(exclude_none=True)
        alike = self.model is None or run.is_rulebook or self.model.partition(":")[0] == run.provider
        return Backbone(**{**(run.model_dump() if alike else {}), **mine})


class Roles(Record):
    """What is different for each role."""

    code: RoleBackbone = RoleBackbone()
    profile: RoleBackbone = RoleBackbone()
    debug: RoleBackbone = RoleBackbone()
