"""A candidate's failure, on its way to becoming a verdict."""

from collections.abc import Iterable

from egg.state.fault import Fault
from egg.state.status import Status


class CandidateError(Exception):
    """The candidate failed with this status; the feedback is for the debug agent, the faults say it typed."""

    def __init__(self, status: Status, feedback: str, faults: Iterable[Fault] = ()) -> None:
        super().__init__(f"{status}: {feedback}")
        self.status = status
        self.feedback = feedback
        self.faults = tuple(faults) or (Fault(kind=status, text=feedback),)
