"""The ledger: finalised decisions, the only history that crosses a stage boundary."""

from enum import StrEnum

from pydantic import Field

from egg.state.pause import Action
from egg.state.record import Record


class Verb(StrEnum):
    """How a stage ended."""

    KEPT = "kept"
    ROLLED_BACK = "rolled back"
    SKIPPED = "skipped"
    FAILED = "failed"
    CHOSEN = "chosen"
    CONFIRMED = "confirmed"
    FELL_BACK = "fell back"
    REFUSED = "refused"


class Review(Record):
    """What a person did to a decision before it came into force."""

    action: Action
    reason: str = ""
    was: str = Field("", description="What the line said before the person changed it")

    def told(self) -> str:
        """`edited by a person, was: ...`."""
        done = {Action.APPROVE: "approved", Action.EDIT: "edited", Action.REFUSE: "refused"}[self.action]
        reason = f" ({self.reason})" if self.reason else ""
        return f"{done} by a person{reason}" + (f", was: {self.was}" if self.was else "")


class Decision(Record):
    """One line of the ledger."""

    step: int = Field(description="The stage's place in the run")
    stage: str = Field(description="The stage, or `seed-1` for a branch; unique within a run")
    verb: Verb
    what: str
    why: str
    evidence: str = Field(description="The numbers it rests on, and whether they were measured or estimated")
    kernel: str | None = Field(None, description="Id of the kernel in force after it")
    tried: tuple[str, ...] = Field((), description="One line for each attempt")
    hints: tuple[str, ...] = Field((), description="What a person told the stage's agents")
    review: Review | None = Field(None, description="What a person did to it; None if nobody was asked")

    @property
    def key(self) -> tuple[int, str]:
        """Identity and order within a run."""
        return self.step, self.stage

    @property
    def by_person(self) -> str:
        """What of it is a person's, in words; empty if nothing is."""
        hints = [f"hint by a person: {hint}" for hint in self.hints]
        return "; ".join([*hints, *([self.review.told()] if self.review else [])])
