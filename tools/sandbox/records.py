"""What a child may use, and what came of it."""

from dataclasses import dataclass, field
from typing import Any, Literal

from egg.state.errors import MachineError, UserError
from egg.state.evaluation import Status
from egg.tools.errors import CandidateError

State = Literal["done", "raised", "timeout", "out_of_memory", "crashed"]


@dataclass(frozen=True)
class Bounds:
    """Limits of one child."""

    seconds: float = 60
    """Wall time, without the time in which the machine had no processor for it; for a worker, of its set-up."""
    memory_bytes: int = 6 << 30
    """Beyond what the warm parent has mapped already. Also the largest file it may write."""
    output_bytes: int = 64 << 10
    """Tail of its stdout and stderr that is kept."""
    folder: str | None = None
    """Its working folder, and where it may write; a temporary one that is removed afterwards if None."""


USUAL = Bounds()


@dataclass(frozen=True)
class Reply:
    """How one request to a child ended."""

    state: State
    value: dict[str, Any] = field(default_factory=dict)
    """What the task returned; if it raised, `type`, `message` and `traceback` (and what our own errors carry)."""
    error: str = ""
    """One line; empty when done."""
    output: str = ""
    """Tail of stdout and stderr, for a person or an agent. Never parsed."""

    @property
    def ok(self) -> bool:
        return self.state == "done"

    def require(self, what: str) -> dict[str, Any]:
        """The value, for tasks of ours that should not fail.

        Raises:
            UserError, CandidateError: when the task raised one.
            MachineError: for anything else; the message begins with `what`.
        """
        if self.ok:
            return self.value
        if self.value.get("type") == "UserError":
            raise UserError(self.value["message"])
        if self.value.get("type") == "CandidateError":
            raise CandidateError(Status(self.value["status"]), self.value["feedback"])
        raise MachineError(f"{what}: {self.state}: {self.error}\n{self.value.get('traceback', '')}".rstrip())
