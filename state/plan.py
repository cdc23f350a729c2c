"""What the profile and debug agents hand to the code agent."""

from typing import Any

from pydantic import Field

from egg.state.record import Record


class Plan(Record):
    """The profile agent's answer: one bottleneck, one change. `worth_it=False` ends the stage."""

    worth_it: bool
    bottleneck: str = ""
    change: str = Field("", description="Exactly one change, in words")
    expected_gain: float = Field(0.0, description="Fraction of the time expected to go away")
    why: str = ""
    edits: dict[str, Any] = Field(default_factory=dict, description="The change as expert-library edits, if it is one")


class Diagnosis(Record):
    """The debug agent's answer to a broken kernel."""

    cause: str
    fix: str
    edits: dict[str, Any] = Field(default_factory=dict, description="The fix as expert-library edits, if it is one")
