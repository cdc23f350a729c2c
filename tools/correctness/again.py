"""A second try where the first one said nothing of the candidate."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from egg.state.status import Status
from egg.tools.correctness.trial import WarmLost
from egg.tools.errors import CandidateError

T = TypeVar("T")


def once_more(work: Callable[[], T]) -> T:
    """Do the work; do it again, if the process that starts children died, which may be another candidate's doing.

    Raises:
        CandidateError: it died both times.
    """
    for _ in range(2):
        with suppress(WarmLost):
            return work()
    raise CandidateError(Status.CHEAT, "the process that starts children died twice while the candidate ran")
