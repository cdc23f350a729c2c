"""A candidate is not blamed for another's attack on the process that starts children, unless it happens twice."""

import pytest

from egg.state.status import Status
from egg.tools.correctness.again import once_more
from egg.tools.correctness.trial import WarmLost
from egg.tools.errors import CandidateError


def dying(times: int) -> list[int]:
    calls: list[int] = []

    def work() -> int:
        calls.append(len(calls))
        if len(calls) <= times:
            raise WarmLost("gone")
        return 7

    assert once_more(work) == 7
    return calls


def test_once_is_somebody_elses() -> None:
    assert dying(0) == [0] and dying(1) == [0, 1]


def test_twice_is_its_own() -> None:
    with pytest.raises(CandidateError) as blamed:
        dying(2)
    assert blamed.value.status is Status.CHEAT
