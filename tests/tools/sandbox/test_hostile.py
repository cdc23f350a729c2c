"""Many hostile children in a row: nothing of them is left, and the next honest one passes."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

import pytest

from egg.tools.sandbox.client import Bounds, run, shutdown
from tests.tools.sandbox import leftovers

BOUNDS = Bounds(seconds=8.0, memory_bytes=300 << 20, disk_bytes=32 << 20, flood_bytes=16 << 20, processes=16)
HOSTILE = {
    "toys:hang": "timeout",
    "toys:segfault": "crashed",
    "attacks:take_memory": "out_of_memory",
    "attacks:fork_bomb": "process_limit",
    "attacks:fill_one_file": "disk_limit",
    "attacks:fill_deleted_files": "disk_limit",
    "attacks:print_a_gigabyte": "output_limit",
    "attacks:kill_parents_group": "forbidden",
    "attacks:forge_nonsense": "forged",
    "attacks:leave_daemon": "done",
}
WITH_PROGRAMS = {"attacks:leave_daemon", "attacks:fork_bomb"}
FEW, MANY = 10, 200


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where all temporary folders are made."""
    shutdown()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for interpret in (True, False):
        assert run("tests.tools.sandbox.toys:echo", {}, interpret=interpret).ok
    yield tmp_path
    shutdown()


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def test_nothing_is_left_of_hostile_children(count: int, scratch: Path) -> None:
    before = sorted(scratch.iterdir())
    open_files = len(os.listdir("/proc/self/fd"))
    for name, state in islice(cycle(HOSTILE.items()), count):
        bounds = replace(BOUNDS, seconds=0.3) if state == "timeout" else BOUNDS
        reply = run(f"tests.tools.sandbox.{name}", {"owner": os.getpid()}, bounds, interpret=name not in WITH_PROGRAMS)
        assert reply.state in (state, "timeout"), (name, reply)  # late, where the machine is busy; gone all the same
        assert run("tests.tools.sandbox.toys:echo", {"after": name}, interpret=True).value == {"after": name}
    assert leftovers.processes() == []
    assert sorted(scratch.iterdir()) == before
    assert len(os.listdir("/proc/self/fd")) == open_files
