"""A forward pass's profile: the best that the machine and its user's rights give, and a line for what they do not."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from egg.state.device import Device
from egg.state.metrics import BY_NAME
from egg.state.profile import Profile
from egg.state.settings import Policy
from egg.tools import profile as module
from egg.tools.counters.collect import Answer
from egg.tools.counters.read import Counted
from egg.tools.counters.trial import KERNEL, trial
from egg.tools.counters.why import FOR_GOOD
from egg.tools.device import detect_device
from egg.tools.profile import profile_forward
from egg.tools.sandbox.client import Bounds, Reply
from egg.tools.store import Store
from tests.tools.profiled import DOUBLING, problem

LASTING = ("there is no ncu", *(meaning for _, meaning in FOR_GOOD))
TRACE: dict[str, Any] = {
    "how": "cupti",
    "passes": 2,
    "launches": [{"name": "double", "function": "double", "grid": [512, 1, 1], "count": 2}],
    "activity": [{"kind": "kernel", "name": "double", "grid": [512, 1, 1], "us": [30.0, 20.0]}],
}
COUNTED = Counted(kernel="double", grid=(512, 1, 1), counters={"duration": 25e3, "l2_hit_rate": 12.0})


class Machine:
    """A GPU that answers as it is told to, and remembers what it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        self.device = detect_device("sm_90").model_copy(update={"present": True, "uuid": f"GPU-{tmp_path.name}"})
        self.store = Store()  # of all tests, so that the kernel is compiled once; no two have the same GPU
        self.trace, self.answer = Reply("done", {"trace": TRACE}), Answer((COUNTED,))
        self.asked: list[str] = []
        monkeypatch.setattr(module, "run", self._run)
        monkeypatch.setattr(module, "collect", self._collect)
        monkeypatch.setattr(module, "never", lambda device: "")

    def _run(self, task: str, payload: Mapping[str, Any], bounds: Bounds) -> Reply:
        self.asked.append("times")
        return self.trace

    def _collect(self, *_: object) -> Answer:
        self.asked.append("counters")
        return self.answer

    def profile(self, *, counters: bool = True) -> Profile:
        return profile_forward(problem(), DOUBLING, self.device, Policy.STOCK, self.store, counters=counters)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    return Machine(monkeypatch, tmp_path)


def test_counters_and_times_are_measured_once(machine: Machine) -> None:
    first = machine.profile()
    assert (first.source, first.note) == ("counters", "")
    (kernel,) = first.kernels
    assert kernel.own and kernel.measured and kernel.ms == pytest.approx(0.025) and kernel.share == 1.0
    assert kernel.launch and kernel.launch.registers > 0 and kernel.counters["l2_hit_rate"] == 12.0
    assert machine.profile() == first
    assert machine.asked == ["times", "counters"]
    assert machine.profile(counters=False).source == "times"
    assert machine.asked == ["times", "counters"]


def test_a_missing_right_leaves_times(machine: Machine) -> None:
    machine.answer = Answer(why="this user may not read the GPU's counters", lasting=True)
    found = machine.profile()
    assert found.source == "times" and found.note == "no counters: this user may not read the GPU's counters"
    assert found.kernels[0].ms == pytest.approx(0.025)
    machine.answer = Answer((COUNTED,))
    assert machine.profile().source == "counters", "what was refused is asked for again"
    assert machine.asked == ["times", "counters", "counters"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply("timeout", error="no answer within 300 s"),
        Reply("crashed", error="died of SIGSEGV"),
        Reply("done", {"trace": {"how": "magic"}}),
        Reply("done", {}),
        Reply("done", {"trace": TRACE | {"activity": [TRACE["activity"][0] | {"us": [float("nan"), 3.0]}]}}),
        Reply("raised", {"type": "CandidateError", "status": "gpu_fault", "feedback": "illegal address", "faults": []}),
    ],
)
def test_without_times_counters_or_the_estimate_do(machine: Machine, reply: Reply) -> None:
    machine.trace = reply
    counted = machine.profile()
    assert counted.source == "counters" and counted.kernels[0].ms == pytest.approx(0.025)
    assert counted.note.startswith("no times by CUPTI: ") and counted.note.endswith("times are Nsight Compute's")
    machine.device = machine.device.model_copy(update={"uuid": f"{machine.device.uuid}-another"})
    machine.answer = Answer(why="there is no ncu (Nsight Compute) here", lasting=True)
    nothing = machine.profile()
    assert nothing.source == "estimate" and "there is no ncu" in nothing.note and "\n" not in nothing.note
    assert nothing.kernels and not nothing.kernels[0].measured


def test_a_name_that_no_file_can_hold_is_mended(machine: Machine) -> None:
    odd = TRACE["activity"][0] | {"name": "half a \ud800"}
    machine.trace = Reply("done", {"trace": TRACE | {"activity": [odd]}})
    assert [kernel.kernel for kernel in machine.profile().kernels] == ["half a ?"]
    assert machine.profile().kernels and machine.asked.count("times") == 1


def test_no_gpu_is_an_estimate_at_once(machine: Machine) -> None:
    machine.device = detect_device("sm_90")
    found = machine.profile()
    assert found.source == "estimate" and not machine.asked
    assert [(kernel.kernel, kernel.own) for kernel in found.kernels] == [("double", True)]


@pytest.mark.gpu
def test_on_a_gpu_each_kernel_has_its_time_and_its_counters(tmp_path: Path) -> None:
    device = detect_device(None)
    found = profile_forward(trial(), KERNEL, device, Policy.STOCK, Store(cache=tmp_path))
    print(found.model_dump_json(indent=1))
    own = next(kernel for kernel in found.kernels if kernel.own)
    theirs = next(kernel for kernel in found.kernels if not kernel.own)
    assert own.kernel == "double" and own.launch and own.measured
    assert "at::native" in theirs.kernel and theirs.launch is None
    assert sum(kernel.share for kernel in found.kernels) == pytest.approx(1.0)
    bytes_ = 2 * 4 * 4096 * 4096
    assert bytes_ / device.bandwidth < own.ms / 1e3 < 20 * bytes_ / device.bandwidth
    if found.source == "counters":
        assert {*own.counters} <= {*BY_NAME} and len(own.counters) >= 24
        assert own.counters["registers"] == own.launch.registers
        assert own.counters.get("grid_size", own.launch.grid[0]) == own.launch.grid[0]
        assert own.counters["dram_read_bytes"] == pytest.approx(bytes_ / 2, rel=0.1)
        assert own.counters["duration"] / 1e6 == pytest.approx(own.ms, rel=0.2)
    else:
        assert found.source == "times" and any(reason in found.note for reason in LASTING)


@pytest.mark.gpu
def test_on_a_gpu_times_alone_are_had_without_counters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> Answer:
        raise AssertionError

    monkeypatch.setattr(module, "collect", never)
    device: Device = detect_device(None)
    found = profile_forward(trial(), KERNEL, device, Policy.STOCK, Store(cache=tmp_path), counters=False)
    assert found.source == "times" and not found.note and len(found.kernels) == 2
