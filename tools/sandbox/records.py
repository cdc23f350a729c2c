"""What a child may use, and what came of it."""

from dataclasses import dataclass, field
from typing import Any, Literal

from egg.state.errors import MachineError, UserError
from egg.state.fault import Fault
from egg.state.status import Status
from egg.tools.errors import CandidateError

State = Literal[
    "done",
    "raised",
    "timeout",
    "out_of_memory",
    "process_limit",
    "disk_limit",
    "output_limit",
    "forbidden",
    "forged",
    "crashed",
]
Grant = Literal["sockets", "tcp", "fifos", "signals", "subreaper", "modes"]
GRANTS: tuple[Grant, ...] = ("sockets", "tcp", "fifos", "signals", "subreaper", "modes")
"""What a profiler may ask for beyond what a candidate gets: Unix sockets and those of a network of its own, named
pipes, signals among its own processes, taking in their orphans, and that changing a file's mode and times seems to
work."""
TOLD: frozenset[str] = frozenset(("done", "raised", "out_of_memory", "process_limit", "disk_limit", "forbidden"))
"""States that a child may say of itself."""
BREACHES: dict[str, tuple[Status, str]] = {
    "process_limit": (Status.PROCESS_LIMIT, "it starts more processes or threads than it may"),
    "disk_limit": (Status.DISK_LIMIT, "it writes more than it may"),
    "output_limit": (Status.OUTPUT_LIMIT, "it prints more than it may"),
    "forbidden": (Status.FORBIDDEN, "it tries what the sandbox forbids"),
    "forged": (Status.CHEAT, "something was written where only its process's own answers go"),
}
"""The verdict on a candidate that ran into one of these."""


@dataclass(frozen=True)
class Bounds:
    """Limits of one child."""

    seconds: float = 60
    """Wall time, without the time in which the machine had no processor for it; for a worker, of its set-up."""
    memory_bytes: int = 6 << 30
    """Of all its processes together, beyond what the warm parent has mapped already."""
    output_bytes: int = 64 << 10
    """Tail of its stdout and stderr that is kept."""
    folder: str | None = None
    """Its working folder, the only one it may write to; a temporary one that is removed afterwards if None."""
    reads: tuple[str, ...] = ()
    """What it may read besides Python, its packages, the system's libraries and its working folder."""
    runs: tuple[str, ...] = ()
    """Folders of programs that it may read and start besides the compiler's."""
    grants: tuple[Grant, ...] = ()
    """For a profiler around a candidate. Of use only in namespaces of its own."""
    disk_bytes: int | None = None
    """Of all files it has at a time, deleted ones that are still open and files in memory too; None: as of memory."""
    processes: int = 64
    """At a time, itself included. In the interpreter's children there is never a second."""
    threads: int = 512
    """Of all its processes, at a time."""
    flood_bytes: int = 64 << 20
    """What it may print before it is ended."""

    @property
    def view(self) -> bool:
        """Whether it is shown only files of its own, for whoever may connect reaches every socket that has a name.

        Landlock does not tell one from the other.
        """
        return not {"sockets", "tcp"}.isdisjoint(self.grants)

    @property
    def most_disk_bytes(self) -> int:
        """`disk_bytes`, decided."""
        return self.memory_bytes if self.disk_bytes is None else self.disk_bytes


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

    def candidate_error(self) -> CandidateError | None:
        """The verdict that the child itself gave, or that on a limit it passed; None if there is neither.

        What stands in it may be forged, so it is never a pass.
        """
        if self.state in BREACHES:
            status, meaning = BREACHES[self.state]
            said = printable(str(self.value.get("feedback") or self.error))
            return CandidateError(status, f"{meaning}: {said}")
        if self.value.get("type") != "CandidateError":
            return None
        try:
            status, feedback = Status(self.value["status"]), printable(str(self.value["feedback"]))
            faults = [Fault.model_validate(fault) for fault in self.value.get("faults", ())]
        except (KeyError, OverflowError, RecursionError, TypeError, ValueError):
            status, feedback, faults = Status.OK, "", []
        if status is Status.OK:
            return CandidateError(Status.CHEAT, "the answer of the candidate's process is forged")
        return CandidateError(status, feedback, faults)

    def require(self, what: str) -> dict[str, Any]:
        """The value, for tasks of ours that should not fail.

        Raises:
            UserError, CandidateError: when the task raised one.
            MachineError: for anything else, a limit of the sandbox too; the message begins with `what`.
        """
        if self.ok:
            return self.value
        if self.value.get("type") == "UserError":
            raise UserError(self.value["message"])
        failure = self.candidate_error()
        if failure and self.value.get("type") == "CandidateError":
            raise failure
        raise MachineError(f"{what}: {self.state}: {self.error}\n{self.value.get('traceback', '')}".rstrip())


def printable(text: str) -> str:
    """Without halves of characters, which a forged answer may hold and no file can."""
    return text.encode("utf-8", "replace").decode()
