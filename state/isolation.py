"""How well a candidate was kept apart from everything else."""

from typing import Literal

from pydantic import Field

from egg.state.record import Record

Name = Literal["none", "partial", "filtered", "strong"]
NAMES: tuple[Name, ...] = ("none", "partial", "filtered", "strong")
"""Of the levels, from 0."""


class Aspect(Record):
    """One promise and what keeps it."""

    what: str = Field(description="network, read, write, others, processes, memory, disk, output, environment")
    how: str = Field(description="The mechanism and its limit, for people")
    verified: bool = Field(description="Whether a child of ours tried to break it and could not")


class Isolation(Record):
    """The level in force: what an attacking child could not do, not what was configured."""

    level: int = Field(ge=0, le=3)
    name: Name
    aspects: tuple[Aspect, ...] = ()
    missing: tuple[str, ...] = Field((), description="Layers that this machine refuses, each with the reason")
    advice: str = Field("", description="What to do for a higher level; empty at the highest")

    def told(self) -> str:
        """One line for a person."""
        kept = [aspect.what for aspect in self.aspects if aspect.verified]
        return f"level {self.level} of 3, {self.name}; withstood an attack: {', '.join(kept) or 'nothing'}"
