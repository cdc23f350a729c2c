"""Each promise of the sandbox, attacked."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from egg.state.errors import MachineError, UserError
from egg.state.evaluation import Status
from egg.tools.errors import CandidateError
from egg.tools.sandbox.client import Bounds, Reply, open_worker, run, shutdown
from egg.tools.sandbox.pool import warm
from egg.tools.sandbox.records import USUAL

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module", autouse=True)
def end_children() -> Iterator[None]:
    yield
    shutdown()


def toy(name: str, bounds: Bounds = USUAL, *, interpret: bool = True, **payload: object) -> Reply:
    return run(f"tests.tools.sandbox.toys:{name}", payload, bounds, interpret=interpret)


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def commands() -> str:
    entries = [path for path in Path("/proc").iterdir() if path.name.isdigit()]
    return "\n".join(
        (path / "cmdline").read_bytes().replace(b"\0", b" ").decode() for path in entries if (path / "cmdline").exists()
    )


def test_answers_with_what_the_task_returns() -> None:
    assert toy("echo", a=[1, 2]) == Reply("done", {"a": [1, 2]})


def test_payload_may_be_large() -> None:
    assert len(toy("echo", text="x" * 3_000_000).value["text"]) == 3_000_000


def test_no_secret_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    shutdown()
    names = toy("environment").value
    assert "OPENAI_API_KEY" not in names and "sk-secret" not in names.values()
    assert names["HOME"] == names["TRITON_CACHE_DIR"].removesuffix("/.triton")


def test_works_in_a_folder_of_its_own_that_is_removed() -> None:
    reply = toy("where")
    assert reply.value["files"] == [] and not Path(reply.value["cwd"]).exists()


def test_a_failure_is_one_line_with_a_traceback() -> None:
    reply = toy("fail")
    assert (reply.state, reply.error) == ("raised", "ValueError: no such luck")
    assert "toys.py" in reply.value["traceback"]


def test_our_own_errors_come_through() -> None:
    with pytest.raises(UserError, match="say please"):
        toy("user_error").require("toy")
    with pytest.raises(CandidateError) as caught:
        toy("candidate_error").require("toy")
    assert (caught.value.status, caught.value.feedback) == (Status.MISMATCH, "off by one")
    with pytest.raises(MachineError, match="toy: raised"):
        toy("fail").require("toy")


@pytest.mark.parametrize("name", ["hang", "stop_itself"])
def test_time_is_kept_by_the_parent(name: str) -> None:
    assert toy("echo").ok  # the warm process is there
    began = time.monotonic()
    assert toy(name, Bounds(seconds=0.3)).state == "timeout"
    assert time.monotonic() - began < 10


def test_waiting_for_a_processor_does_not_count() -> None:
    processor = min(os.sched_getaffinity(0))
    spin = f"import os; os.sched_setaffinity(0, {{{processor}}})\nwhile True: pass"
    others = [subprocess.Popen([sys.executable, "-c", spin]) for _ in range(3)]
    try:
        began = time.monotonic()
        assert toy("crowded", Bounds(seconds=1.0), seconds=0.75, processor=processor).ok
        assert time.monotonic() - began > 1.0
    finally:
        for other in others:
            other.kill()
            other.wait()


def test_leaving_early_with_a_forged_answer_is_a_crash() -> None:
    reply = toy("leave")
    assert (reply.state, reply.value) == ("crashed", {})


def test_a_segfault_is_a_crash_with_its_signal() -> None:
    assert toy("segfault").error == "died of SIGSEGV"


def test_memory_is_limited() -> None:
    assert toy("bomb", Bounds(memory_bytes=256 << 20), elements=1 << 28).state == "out_of_memory"
    assert toy("bomb", Bounds(memory_bytes=256 << 20), elements=1 << 20).ok


def test_memory_that_the_driver_cannot_tell_of_is_memory() -> None:
    said = 'NVML_SUCCESS == DriverAPI::get()->nvmlInit_v2_() INTERNAL ASSERT FAILED at "CUDACachingAllocator.cpp":1135'
    assert toy("fail_saying", said=said).state == "out_of_memory"
    assert toy("fail_saying", said="NVML_SUCCESS == something else").state == "raised"


def test_only_the_tail_of_the_output_is_kept() -> None:
    reply = toy("flood", Bounds(output_bytes=1000))
    assert reply.ok and len(reply.output) == 1000 and reply.output.endswith("the end\n")


def test_nothing_survives_its_task() -> None:
    assert toy("daemon", interpret=False).ok
    assert "sleep 61" not in commands()


def test_a_candidate_that_kills_its_parent_fails_alone() -> None:
    assert toy("kill_parent").state == "forbidden"
    assert toy("echo").ok


def test_children_may_use_threads() -> None:
    assert toy("linear", Bounds(seconds=20)).value["sum"] == 600**3


def test_many_threads_may_ask_at_once() -> None:
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda n: toy("echo", n=n), range(24)))
    assert [reply.value["n"] for reply in replies] == list(range(24))


def test_a_worker_keeps_its_state_until_it_fails() -> None:
    with open_worker("tests.tools.sandbox.toys:add_up", {"start": 1}, interpret=True) as worker:
        assert worker.opened.value == {"total": 1}
        assert worker.ask({"add": 2}, 5).value == {"total": 3}
        assert worker.ask({"hang": True}, 0.2).state == "timeout"
        assert worker.ask({"add": 2}, 5).state == "timeout"


def test_an_unknown_task_is_our_fault() -> None:
    with pytest.raises(MachineError, match="nothing_here"):
        toy("nothing_here")


def test_children_die_with_a_killed_parent(tmp_path: Path) -> None:
    script = """
import threading, time
from egg.tools.sandbox.client import run
ask = lambda: print(run("tests.tools.sandbox.toys:where", {}, interpret=True).value["pid"], flush=True)
ask()
threading.Thread(target=run, args=("tests.tools.sandbox.toys:hang", {}), kwargs={"interpret": True}).start()
time.sleep(1)
print("ready", flush=True)
time.sleep(60)
"""
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", script]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    while "ready" not in process.stdout.readline():
        assert process.poll() is None
    children = [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    grandchildren = [
        int(pid) for child in children for pid in Path(f"/proc/{child}/task/{child}/children").read_text().split()
    ]
    assert grandchildren and all(map(alive, children + grandchildren))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 3
    while any(map(alive, children + grandchildren)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(alive, children + grandchildren))
    assert list(tmp_path.iterdir()) == []


def test_nothing_that_comes_back_is_unpickled() -> None:
    trusted = [*ROOT.glob("tools/*.py"), *ROOT.glob("tools/sandbox/*.py"), *ROOT.glob("state/*.py")]
    assert trusted
    loaders = re.compile(r"^\s*(import|from) (pickle|marshal|shelve|dill|yaml|torch|multiprocessing)\b", re.MULTILINE)
    allowed = {"warmup.py", "zygote.py"}  # in the warm process, before it has children
    assert [path.name for path in trusted if loaders.search(path.read_text()) and path.name not in allowed] == []


def test_the_warm_process_has_one_thread() -> None:
    """A fork after PyTorch has started threads leaves the child without them, and waiting for them."""
    for interpret in (True, False):
        assert toy("echo", interpret=interpret).ok
        assert len(os.listdir(f"/proc/{warm(interpret).pid}/task")) == 1


@pytest.mark.slow
def test_pytorchs_compiler_works() -> None:
    assert toy("compiled", Bounds(seconds=300), interpret=False).value == {"close": True}
