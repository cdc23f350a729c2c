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


NO_MEMORY = (
    *("can't allocate memory", "bad_alloc", "Cannot allocate memory", "CUDA out of memory"),
    "NVML_SUCCESS == DriverAPI::get()->nvmlInit_v2_()",
)
"""Words of exceptions about an allocation that failed. The last is PyTorch's where the driver does not tell it how much
memory is free, which it asks for nothing but such an exception's text."""
