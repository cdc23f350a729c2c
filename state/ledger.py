"""The ledger: finalised decisions, the only history that crosses a stage boundary."""

from enum import StrEnum

from pydantic import Field

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

    @property
    def key(self) -> tuple[int, str]:
        """Identity and order within a run."""
        return self.step, self.stage
