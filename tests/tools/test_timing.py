"""The parent's side of timing, with real workers and the host's clock where a GPU would be."""

import multiprocessing
from pathlib import Path
from random import Random

import pytest

from egg.state.errors import MachineError
from egg.state.evaluation import Status
from egg.state.problem import TensorSpec, Workload
from egg.state.settings import Policy
from egg.tools import interleave, timing
from egg.tools.device import detect_device
from egg.tools.errors import CandidateError
from egg.tools.exclusive import exclusive
from egg.tools.interleave import Samples, Side, sessions
from egg.tools.store import Store
from tests.tools.profiled import DOUBLING, candidate, problem

H200 = detect_device("sm_90")
PLAIN = candidate("", "return torch.relu(self.fc(x))")
HALF = candidate("", "return torch.relu(self.fc(x[: len(x) // 8])).repeat(8, 1)")


def taken(*, event: float, host: float, spread: float = 0.01) -> list[Samples]:
    """A session of ten rounds with this time, and this much by the host's clock."""
    random = Random(event)
    rounds = [[event * random.gauss(1, spread) for _ in range(12)] for _ in range(10)]
    return [Samples(rounds, [(event, host)] * 20)]


def on_cpu(sides: dict[str, Side], count: int = 1) -> dict[str, list[Samples]]:
    return sessions(problem(), sides, H200, Policy.STOCK, count=count, clock="cpu")


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few samples: what is tested is not the figures."""
    monkeypatch.setattr(interleave, "SAMPLES", 20)
    monkeypatch.setattr(interleave, "SIDE_MS", 100.0)


def test_sides_take_turns_and_the_faster_one_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interleave, "SIDE_MS", 400.0)
    found = on_cpu({timing.EAGER: Side(), timing.CANDIDATE: Side(source=HALF)}, count=2)
    assert [len(side) for side in found.values()] == [2, 2]
    for side in found.values():
        for session in side:
            assert len(session.rounds) == interleave.ROUNDS
            assert len({len(turn) for turn in session.rounds}) == 1
            assert len(session.apart) == interleave.BLOCKS * interleave.APART
    _, (speedup,) = timing.conclude(found, floor=0.0)
    assert speedup.baseline == "eager" and speedup.proven and speedup.ratio > 1.3


@pytest.mark.usefixtures("brief")
def test_the_reference_is_not_proven_faster_than_itself() -> None:
    found = on_cpu({timing.EAGER: Side(), timing.CANDIDATE: Side(source=PLAIN)})
    _, (speedup,) = timing.conclude(found, floor=0.0)
    assert speedup.low < 1.1 and speedup.high > 0.9


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize(
    ("forward", "status", "said"),
    [
        ("return x + torch.ones(3)", Status.RUNTIME_ERROR, "line 12 (`return x + torch.ones(3)`)"),
        ("import os; os._exit(3)", Status.GPU_FAULT, "died"),
        ("return torch.empty(1 << 45)", Status.OUT_OF_MEMORY, "allocate"),
    ],
)
def test_a_candidate_that_fails_is_a_verdict(forward: str, status: Status, said: str) -> None:
    with pytest.raises(CandidateError) as raised:
        on_cpu({timing.EAGER: Side(), timing.CANDIDATE: Side(source=candidate("", forward))})
    assert raised.value.status is status and said in raised.value.feedback


@pytest.mark.usefixtures("brief")
def test_a_candidate_that_fails_late_is_a_verdict_too() -> None:
    forward = "self.calls = getattr(self, 'calls', 0) + 1\nassert self.calls < 40, 'worn out'\nreturn self.fc(x)"
    with pytest.raises(CandidateError, match="worn out"):
        on_cpu({timing.EAGER: Side(), timing.CANDIDATE: Side(source=candidate("", forward))})


def test_a_reference_that_fails_is_the_machines_fault() -> None:
    broken = problem().model_copy(update={"source": problem().source.replace("torch.relu(", "torch.relu_missing(")})
    with pytest.raises(MachineError, match="timing eager of the reference"):
        sessions(broken, {timing.EAGER: Side()}, H200, Policy.STOCK, count=1, clock="cpu")


def test_rounds_are_mirrored() -> None:
    orders = {tuple(interleave._mirrored(["a", "b", "c"], Random(seed))) for seed in range(40)}
    assert len(orders) == 6
    assert all(order == order[::-1] for order in orders)


def test_a_time_below_the_floor_is_no_time() -> None:
    found = {timing.EAGER: taken(event=1.0, host=1.02), timing.CANDIDATE: taken(event=0.01, host=0.03)}
    assert timing.conclude(found, floor=0.009)[1][0].ratio > 90
    with pytest.raises(CandidateError, match=r"less than the 0\.0200 ms") as raised:
        timing.conclude(found, floor=0.02)
    assert raised.value.status is Status.CHEAT
    found[timing.EAGER] = taken(event=0.015, host=0.02)  # a lookup, say, that reads little of its table
    timing.conclude(found, floor=0.02)


def test_work_on_another_stream_is_seen_by_the_second_clock() -> None:
    found = {timing.EAGER: taken(event=1.0, host=1.02), timing.CANDIDATE: taken(event=0.2, host=0.9)}
    with pytest.raises(CandidateError, match="another stream"):
        timing.conclude(found, floor=0.0)


def test_the_host_being_slow_for_both_is_no_cheat() -> None:
    found = {timing.EAGER: taken(event=0.01, host=0.3), timing.CANDIDATE: taken(event=0.008, host=0.31)}
    assert timing.conclude(found, floor=0.0)[0].samples == 120


def test_torch_compile_is_one_more_baseline() -> None:
    found = {
        timing.EAGER: taken(event=2.0, host=2.0),
        timing.CANDIDATE: taken(event=1.0, host=1.0),
        timing.COMPILE: taken(event=0.9, host=0.9),
    }
    eager, compiled = timing.conclude(found, floor=0.0)[1]
    assert (eager.baseline, compiled.baseline) == ("eager", "compile")
    assert eager.proven and not compiled.proven


def test_nothing_is_measured_without_a_gpu(tmp_path: Path) -> None:
    workload = Workload(
        inputs=(TensorSpec(shape=(8,), dtype="float32"),), outputs=(TensorSpec(shape=(8,), dtype="float32"),),
        parameters=0, flops=8, matmul_flops=0, min_bytes=64, regions=(), structures=("unfused",),
    )  # fmt: skip
    found = timing.measure_baseline(problem(), workload, H200, Policy.STOCK, Store(tmp_path))
    assert found.eager is None and found.compiled is None and "no GPU here" in found.note
    assert found.roofline_ms > 0 and not (tmp_path / "journal.jsonl").exists()
    with pytest.raises(MachineError, match="nothing can be measured"):
        timing.compare(problem(), DOUBLING, H200, Policy.STOCK, Store(tmp_path))


def _hold(ready: "multiprocessing.synchronize.Event", release: "multiprocessing.synchronize.Event") -> None:
    with exclusive(H200):
        ready.set()
        release.wait(60)


def test_one_job_a_gpu_across_processes() -> None:
    context = multiprocessing.get_context("spawn")
    ready, release = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(ready, release))
    other.start()
    try:
        assert ready.wait(60)
        with pytest.raises(MachineError, match="another job holds"), exclusive(H200, seconds=0.2):
            pass
    finally:
        release.set()
        other.join(60)
    with exclusive(H200, seconds=5):
        pass


@pytest.mark.gpu
@pytest.mark.slow
def test_on_the_gpu_a_fused_kernel_is_timed_beside_both_baselines(tmp_path: Path) -> None:
    device = detect_device(None)
    store = Store(tmp_path)
    source = candidate("", "return torch.relu(torch.addmm(self.fc.bias, x, self.fc.weight.t()))")
    found, speedups, _ = timing.compare(problem(), source, device, Policy.STOCK, store, thorough=True)
    assert found.samples >= 300 and 0 < found.median_ms < 1
    assert [speedup.baseline for speedup in speedups] == ["eager", "compile"]
    assert all(speedup.low <= speedup.ratio <= speedup.high for speedup in speedups)
    assert 0.7 < speedups[0].ratio < 1.4
