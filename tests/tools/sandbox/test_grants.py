"""A profiler's child: what it needs works there, and only there; what a candidate may not reach stays out of reach."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from egg.tools.sandbox.client import Bounds, run
from egg.tools.sandbox.isolation import in_force
from egg.tools.sandbox.records import GRANTS, Grant
from tests.tools.sandbox import leftovers
from tests.tools.sandbox.test_attacks import FORBIDDEN, INVISIBLE

TASK = "tests.tools.sandbox.granted:converse"
NEEDED = {"tcp", "uds", "abstract", "fifo", "signal", "subreaper", "mode", "temporary", "program"}
OUT_OF_REACH = {"device", "mode of others", "docker", "relative", "outside", "internet", "secret"}


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[dict[str, Any]]:
    if "namespaces" not in in_force(False):
        pytest.skip("no namespaces here")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "profiler").write_text("#!/bin/sh\nexit 0\n")
    os.chmod(tools / "profiler", 0o755)
    (tmp_path / "secret").write_text("x")
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix:
        tcp.bind(("127.0.0.1", 0))
        unix.bind(str(tmp_path / "d.sock"))
        for listener in (tcp, unix):
            listener.listen()
        yield {
            "port": tcp.getsockname()[1],
            "unix": str(tmp_path / "d.sock"),
            "secret": str(tmp_path / "secret"),
            "program": str(tools / "profiler"),
        }


def tried(outside: dict[str, Any], grants: tuple[Grant, ...]) -> dict[str, Any]:
    bounds = Bounds(seconds=60, grants=grants, runs=(str(Path(outside["program"]).parent),))
    return run(TASK, outside, bounds).require("converse")


def test_a_profilers_child_can_do_what_a_profiler_does_and_no_more(outside: dict[str, Any]) -> None:
    found = tried(outside, GRANTS)
    assert set(found["works"]) >= NEEDED, found["why"]
    assert not OUT_OF_REACH & set(found["works"])


def test_each_right_is_granted_apart(outside: dict[str, Any]) -> None:
    only = {
        "sockets": {"uds", "abstract", "temporary"},
        "tcp": {"tcp", "uds", "abstract", "temporary"},
        "fifos": {"fifo"},
        "signals": {"signal"},
        "subreaper": {"subreaper"},
        "modes": {"mode"},
    }
    assert set(only) == set(GRANTS)
    assert set(tried(outside, ())["works"]) == {"program"}
    for grant in GRANTS:
        works = set(tried(outside, (grant,))["works"]) - {"program"}
        assert works == only[grant], grant


def test_an_ordinary_child_may_not_start_what_it_was_not_shown(outside: dict[str, Any]) -> None:
    found = run(TASK, outside, Bounds(seconds=60)).require("converse")
    assert "program" not in found["works"]


HARMLESS = {
    "change_mode": "it only seems to work",
    "change_times": "likewise",
    "send_udp": "to nobody, in a network of its own",
    "start_program": "as children that compile may",
    "fill_shared_memory": "a small folder of its own",
    "leave_daemon": "it ends with its namespace",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*FORBIDDEN, *INVISIBLE, *HARMLESS, "fork_bomb", "fork_bomb_that_leaves"}))
def test_attacks_get_no_further_for_the_grants(name: str, outside: dict[str, Any], tmp_path: Path) -> None:
    secret = Path(outside["secret"])
    before = (secret.read_text(), secret.stat().st_mode, secret.stat().st_mtime)
    victim = {**outside, "path": str(secret), "owner": os.getpid()}
    bounds = Bounds(seconds=8, memory_bytes=300 << 20, disk_bytes=64 << 20, processes=16, threads=200, grants=GRANTS)
    reply = run(f"tests.tools.sandbox.attacks:{name}", victim, bounds)
    assert reply.state != "done" or name in HARMLESS, reply
    assert (secret.read_text(), secret.stat().st_mode, secret.stat().st_mtime) == before
    assert leftovers.processes() == []
    assert run("egg.tools.sandbox.canary:nothing", {}).ok, "the warm process lives"
