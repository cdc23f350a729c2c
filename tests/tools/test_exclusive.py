"""Who waits for whom at the GPU."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from time import sleep

import pytest

from egg.state.device import Device
from egg.state.errors import MachineError
from egg.tools.device import detect_device
from egg.tools.exclusive import exclusive, shared

PRESENT = detect_device("sm_90").model_copy(update={"present": True, "uuid": "GPU-test"})


@pytest.fixture(autouse=True)
def own_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGG_CACHE_DIR", str(tmp_path))


class Job(threading.Thread):
    """Takes its turn, writes its name down, and stays until it is let go."""

    def __init__(self, turn: Callable[[Device], AbstractContextManager[None]], name: str, order: list[str]) -> None:
        super().__init__(daemon=True, name=name)
        self.turn, self.order = turn, order
        self.inside, self.leave = threading.Event(), threading.Event()
        self.start()

    def run(self) -> None:
        with self.turn(PRESENT):
            self.order.append(self.name)
            self.inside.set()
            self.leave.wait(30)


def test_checks_run_side_by_side_and_timing_alone() -> None:
    order: list[str] = []
    checks = [Job(shared, f"check {n}", order) for n in range(2)]
    assert all(job.inside.wait(10) for job in checks)
    with pytest.raises(MachineError, match="another job holds"), exclusive(PRESENT, seconds=0.2):
        pass
    for job in checks:
        job.leave.set()
        job.join(10)
    with (
        exclusive(PRESENT, seconds=10),
        pytest.raises(MachineError, match="another job holds"),
        shared(PRESENT, seconds=0.2),
    ):
        pass


def test_timing_jobs_that_wait_together_run_before_the_next_check() -> None:
    order: list[str] = []
    first = Job(shared, "first check", order)
    assert first.inside.wait(10)
    timing = [Job(exclusive, "timing", order)]
    sleep(0.5)
    late = Job(shared, "late check", order)
    sleep(0.5)
    timing.append(Job(exclusive, "timing", order))
    sleep(0.5)
    assert order == ["first check"]
    for job in (*timing, late):
        job.leave.set()
    first.leave.set()
    for job in (first, *timing, late):
        job.join(30)
    assert order == ["first check", "timing", "timing", "late check"]
