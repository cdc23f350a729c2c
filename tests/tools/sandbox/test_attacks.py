"""What each attack comes to, in the children of the interpreter and in those that may start programs."""

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from egg.state.errors import MachineError
from egg.state.evaluation import Status
from egg.tools.sandbox.client import Bounds, Reply, run, shutdown
from egg.tools.sandbox.worker import PATIENCE
from tests.tools.sandbox import leftovers

BOUNDS = Bounds(seconds=4.0, memory_bytes=300 << 20, disk_bytes=64 << 20, processes=16, threads=200)

FORBIDDEN = """
read_file read_project_source connect_tcp send_udp connect_unix send_to_abstract set_up_io_uring overwrite_package
plant_pth write_outside write_through_link change_mode change_times fill_shared_memory kill_parent
kill_parents_group kill_all open_parent filter_itself leave_namespaces load_bpf change_the_kernel limit_parent
call_by_x32 empty_a_file empty_a_file_to_read
""".split()  # noqa: SIM905
MISSED = {"FileNotFoundError", "ProcessLookupError"}
INVISIBLE = ("read_parents_environment", "read_parents_memory", "pin_parent")
"""Refused, or there is no such process where it has a world of its own."""
BOTH = {
    "fill_one_file": "disk_limit",
    "fill_many_files": "disk_limit",
    "fill_deep_folders": "disk_limit",
    "fill_deleted_files": "disk_limit",
    "fill_mapped_files": "disk_limit",
    "take_memory": "out_of_memory",
    "take_shared_memory": "out_of_memory",
    "print_a_gigabyte": "output_limit",
    "fork_bomb": "process_limit",
    "recurse": "crashed",
    "abort": "crashed",
    "kill_itself": "crashed",
    "forge_output": "crashed",
    "forge_nonsense": "forged",
    "blame_the_machine": "forged",
    "flood_the_channel": "forged",
    "forge_a_deep_answer": "forged",
    "forge_an_odd_state": "forged",
    "forge_half_a_character": "raised",
    "end_by_a_signal_without_a_name": "crashed",
    "take_an_odd_name": "done",
    "forge_a_pass": "raised",
    "leave_threads": "done",
    "link_a_file_in": "raised",  # "Invalid cross-device link" is how Landlock says no
    "raise_its_limit": "raised",
}
INTERPRETED = {
    "deaf_fork_bomb": "timeout",
    "thread_bomb": "process_limit",
    "start_program": "process_limit",
    "fill_memory_files": "forbidden",
}
WITH_PROGRAMS = {
    "fork_bomb_that_leaves": "process_limit",
    "deaf_fork_bomb": "process_limit",
    "thread_bomb": "process_limit",
    "start_program": "done",
    "leave_daemon": "done",
    "fill_memory_files": "disk_limit",
    "take_memory_in_many": "out_of_memory",
}


@pytest.fixture(scope="module", autouse=True)
def end_children() -> Iterator[None]:
    shutdown()  # other tests' timers may still stand by
    for interpret in (True, False):
        run("tests.tools.sandbox.attacks:leave_threads", {}, interpret=interpret)
    yield
    shutdown()


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[dict[str, object]]:
    """Something outside to attack."""
    (tmp_path / "secret").write_text("sk-secret")
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix:
        tcp.bind(("127.0.0.1", 0))
        unix.bind(str(tmp_path / "unix"))
        for listener in (tcp, unix):
            listener.listen()
        where = {"path": str(tmp_path / "secret"), "port": tcp.getsockname()[1], "unix": str(tmp_path / "unix")}
        yield {**where, "owner": os.getpid()}
    assert (tmp_path / "secret").read_text() == "sk-secret"


def attack(name: str, victim: dict[str, object], *, interpret: bool) -> Reply:
    began = time.monotonic()
    reply = run(f"tests.tools.sandbox.attacks:{name}", victim, BOUNDS, interpret=interpret)
    # Longer only if it had no processor meanwhile; ending a bomb of processes takes a busy machine its time, too.
    assert time.monotonic() - began < PATIENCE * BOUNDS.seconds + 30
    assert leftovers.processes() == []
    return reply


@pytest.mark.parametrize("interpret", [True, False], ids=["interpreter", "programs"])
@pytest.mark.parametrize("name", [*FORBIDDEN, *INVISIBLE])
def test_what_is_forbidden(name: str, interpret: bool, victim: dict[str, object]) -> None:
    reply = attack(name, victim, interpret=interpret)
    if name in INVISIBLE and reply.value.get("type") in MISSED:
        return
    assert reply.state == "forbidden", reply
    failure = reply.candidate_error()
    assert failure and failure.status is Status.FORBIDDEN


@pytest.mark.parametrize("interpret", [True, False], ids=["interpreter", "programs"])
@pytest.mark.parametrize(("name", "state"), BOTH.items())
def test_what_ends_in_a_state_of_its_own(name: str, state: str, interpret: bool, victim: dict[str, object]) -> None:
    assert attack(name, victim, interpret=interpret).state == state


@pytest.mark.parametrize(("name", "state"), INTERPRETED.items())
def test_what_the_interpreters_children_may_not(name: str, state: str, victim: dict[str, object]) -> None:
    assert attack(name, victim, interpret=True).state == state


@pytest.mark.parametrize(("name", "state"), WITH_PROGRAMS.items())
def test_what_children_with_programs_may_not(name: str, state: str, victim: dict[str, object]) -> None:
    assert attack(name, victim, interpret=False).state == state


@pytest.mark.slow
def test_files_are_counted_too(victim: dict[str, object]) -> None:
    assert run("tests.tools.sandbox.attacks:make_many_files", victim, BOUNDS, interpret=True).state == "disk_limit"


def test_a_forged_pass_is_a_cheat(victim: dict[str, object]) -> None:
    failure = attack("forge_a_pass", victim, interpret=True).candidate_error()
    assert failure and failure.status is Status.CHEAT


def test_a_limit_in_a_task_of_ours_blames_no_candidate(victim: dict[str, object]) -> None:
    with pytest.raises(MachineError, match="tidy: forbidden"):
        attack("write_outside", victim, interpret=True).require("tidy")
