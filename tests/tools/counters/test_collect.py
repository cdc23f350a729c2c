"""The profiler is started in the candidate's sandbox, asked again for what it knows, and never waited for in vain."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from egg.state.device import Device
from egg.state.settings import Policy
from egg.tools.counters import collect as module
from egg.tools.counters import program
from egg.tools.counters.collect import Answer, collect, unable, until_known
from egg.tools.counters.trial import KERNEL, trial
from egg.tools.device import detect_device
from egg.tools.sandbox.client import Reply, run
from egg.tools.sandbox.isolation import in_force
from tests.tools.profiled import DOUBLING, problem

GONE = "sm__throughput.avg.pct_of_peak_sustained_elapsed"


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    for memory in (module._refused, module._failed):
        memory.clear()
    program.known.cache_clear()
    program.version.cache_clear()
    return detect_device("sm_90").model_copy(update={"present": True, "uuid": "GPU-1"})


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    if "namespaces" not in in_force(False):
        pytest.skip("no namespaces here")

    def put(behaviour: str) -> str:
        folder = tmp_path / "profiler"
        folder.mkdir(exist_ok=True)
        shutil.copy(Path(__file__).parent / "ncu_stand_in.py", folder / "stand_in.py")
        (folder / "behaviour").write_text(behaviour)
        ncu = folder / "ncu"
        ncu.write_text(f'#!/bin/sh\nexec {sys.executable} "$(dirname "$0")/stand_in.py" "$@"\n')
        ncu.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        return str(ncu)

    return put


def asked(device: Device) -> Answer:
    return collect(problem(), DOUBLING, device, Policy.STOCK)


def test_it_counts_in_the_sandbox_what_the_gpu_has(device: Device, install: Callable[[str], str]) -> None:
    path = install("plain")
    assert program.find() == program.Program(path, (str(Path(path).parent),))
    assert program.version(path) == "2025.3.1.0"
    answer = asked(device)
    assert not answer.why, answer.why
    (launch,) = answer.launches
    assert launch.kernel == "double" and launch.counters["duration"] > 1000
    assert "dram_read_bytes" in launch.counters, "by its newer name"
    assert 0 < launch.counters["stall_memory"] < 200, "a quotient of two, where it is not there itself"
    assert "instructions" not in launch.counters, "not on this GPU"
    assert launch.counters["registers"] > 0, "in no list, and there all the same"


@pytest.mark.slow
def test_what_it_does_not_know_is_left_out(device: Device, install: Callable[[str], str]) -> None:
    install("unknown")
    answer = asked(device)
    assert not answer.why, answer.why
    assert "sm_throughput" not in answer.launches[0].counters


def test_a_missing_right_is_one_line_and_not_asked_for_again(
    device: Device, install: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install("denied")
    answer = asked(device)
    assert answer.lasting and "may not read the GPU's counters" in answer.why and "\n" not in answer.why
    monkeypatch.setattr(module, "started", None)
    again = asked(device)
    assert again.lasting and again.why == answer.why


def test_a_profiler_that_says_nothing_is_tried_twice(
    device: Device, install: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install("silent")
    first = asked(device)
    assert first.why == "Nsight Compute ended with 9: and said nothing" and not first.lasting
    assert asked(device) == first
    monkeypatch.setattr(module, "started", None)
    assert asked(device) == Answer(why=first.why, lasting=True)


def test_without_a_profiler_or_a_world_of_its_own(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "find", lambda: None)
    assert asked(device) == Answer(why="there is no ncu (Nsight Compute) here", lasting=True)
    assert unable(("landlock", "seccomp")) and not unable(()) and not unable(("namespaces", "seccomp"))


def test_answers_that_are_none_end_it() -> None:
    replies = [
        Reply("done", {"log": 7, "printed": "", "code": 0}),
        Reply("done", {"log": "", "printed": ""}),
        Reply("timeout", error="no answer within 300 s"),
    ]
    for reply in replies:
        asked: list[tuple[str, ...]] = []

        def once(names: tuple[str, ...], without: tuple[str, ...], reply: Reply = reply) -> Reply:
            asked.append(names)  # noqa: B023
            return reply

        answer = until_known(once, frozenset())
        assert answer.why and not answer.launches and len(asked) == 1


def test_options_that_a_version_lacks_are_left_out() -> None:
    seen: list[tuple[str, ...]] = []

    def once(names: tuple[str, ...], without: tuple[str, ...]) -> Reply:
        seen.append(without)
        if "--config-file" in without:
            return Reply("done", {"log": '"ID","Kernel Name"\n"0","k"\n', "printed": "", "code": 0})
        return Reply("done", {"log": "", "printed": "==ERROR== unrecognised option '--config-file'", "code": 1})

    assert until_known(once, frozenset()).launches[0].kernel == "k"
    assert seen == [(), ("--config-file",)]
    assert "--config-file" not in program.command("ncu", ("a__b",), "log", ("--config-file",))


@pytest.mark.gpu
def test_on_a_gpu_cuda_works_where_the_profiler_does() -> None:
    reply = run("egg.tools.tasks.gpu:properties", {}, module.BOUNDS)
    assert reply.ok and reply.value["usable"], reply


@pytest.mark.gpu
def test_on_a_gpu_the_real_one_counts_unless_it_never_can() -> None:
    found = program.find()
    if found is None:
        pytest.skip("no ncu")
    answer = module.started(trial(), KERNEL, Policy.STOCK, found, program.known(found.path))
    if answer.lasting:
        pytest.skip(answer.why)
    assert not answer.why, answer.detail
    assert answer.launches[0].kernel == "double"


def test_it_leaves_the_gpu_as_it_is() -> None:
    line = " ".join(program.command("ncu", ("a__b", "c__d"), "log"))
    for part in (
        "--metrics a__b,c__d",
        "--clock-control none",
        "--pipeline-boost-state dynamic",
        "--profile-from-start off",
        "--target-processes application-only",
        "--page raw",
        "--csv",
    ):
        assert part in line
