"""Timers of references that are kept: lent to one at a time, few, small and alive."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from egg.tools.timing import standing
from egg.tools.timing.standing import Standing


class Worker:
    """As much of a worker as is asked of one that is kept."""

    def __init__(self, held_bytes: int = 1, alive: bool = True) -> None:
        self.opened = SimpleNamespace(value={"held_bytes": held_bytes})
        self.alive, self.closed = alive, False

    def ask(self, message: dict[str, Any], seconds: float) -> SimpleNamespace:
        return SimpleNamespace(ok=self.alive)

    def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    standing.end()
    yield
    standing.end()


def kept(worker: Worker, key: str = "problem") -> Worker:
    standing.give((key,), Standing(worker, 7))  # type: ignore[arg-type]
    return worker


def test_it_is_lent_once_and_for_its_own_problem() -> None:
    worker = kept(Worker())
    assert standing.take(("another",)) is None
    found = standing.take(("problem",))
    assert found is not None and found.worker is worker and found.seed == 7  # type: ignore[comparison-overlap]
    assert standing.take(("problem",)) is None and not worker.closed


def test_one_that_holds_much_or_does_not_answer_is_ended() -> None:
    assert kept(Worker(held_bytes=standing.MOST_BYTES + 1)).closed
    dead = kept(Worker(alive=False))
    assert standing.take(("problem",)) is None and dead.closed


def test_the_oldest_goes() -> None:
    workers = [kept(Worker(), f"problem {number}") for number in range(standing.MOST + 1)]
    assert [worker.closed for worker in workers] == [True] + [False] * standing.MOST
