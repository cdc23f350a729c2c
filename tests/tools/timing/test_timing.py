"""The parent's side of timing, with real workers and the host's clock where a GPU would be."""

import multiprocessing
from pathlib import Path
from random import Random

import pytest

from egg.state.conditions import TimedOutputs
from egg.state.errors import MachineError
from egg.state.evaluation import Status
from egg.state.problem import TensorSpec, Workload
from egg.state.settings import Policy
from egg.tools.device import detect_device
from egg.tools.errors import CandidateError
from egg.tools.exclusive import exclusive
from egg.tools.store import Store
from egg.tools.timing import interleave, session
from egg.tools.timing import measure as timing
from egg.tools.timing.interleave import Plan, Taken, sessions
from egg.tools.timing.measure import Floors, Measurement
from egg.tools.timing.session import Samples
from egg.tools.timing.sides import Opened, Side, block, opened, outputs
from tests.tools import timed
from tests.tools.profiled import DOUBLING, candidate, problem
from tests.tools.timed import H200, job

PLAIN = timed.candidate("return self.honest(x)")
FOUR_TIMES = timed.problem(
    "return sum(torch.relu(self.fc(x.repeat(8, 1))) for _ in range(4)).reshape(8, 64, 96)[0] / 4"
)
NONE = Floors()
BRIEF = Plan(rounds=3, outputs=2)


def samples(*, event: float, host: float, spread: float = 0.01, unexplained: float = 0.1) -> list[Samples]:
    """A session of ten rounds with this time, and this much by the host's clock."""
    random = Random(event)
    rounds = [[event * random.gauss(1, spread) for _ in range(12)] for _ in range(10)]
    return [Samples(rounds, [(event, host)] * 20, [unexplained] * 20)]


def conclude(floors: Floors = NONE, checked: int = 5, **sides: list[Samples]) -> Measurement:
    taken = Taken(dict(sides), outputs=TimedOutputs(checked=checked, of=240, telling=checked), seeds=[1])
    return timing.conclude(job(), taken, floors)


@pytest.mark.slow
def test_sides_take_turns_and_the_faster_one_is_found() -> None:
    sides = {timing.EAGER: Side(), timing.CANDIDATE: Side(source=PLAIN)}
    found = sessions(job(FOUR_TIMES), sides, Plan(sessions=2, rounds=4, outputs=2))
    assert [len(side) for side in found.sides.values()] == [2, 2]
    for side in found.sides.values():
        for one in side:
            assert len(one.rounds) == 4
            assert len(one.apart) == len(one.unexplained) == 16
    assert len(set(found.seeds)) == 2 and found.input_sets == 4
    measured = timing.conclude(job(), found, Floors())
    assert measured.speedups[0].baseline == "eager" and measured.speedups[0].ratio > 1.3
    told = measured.conditions
    assert (told.sessions, told.rounds, told.outputs.checked) == (2, 8, 4)
    assert told.samples["candidate"] == measured.timing.samples
    assert set(told.seconds) == {"opening", "waiting", "timing", "checking"}


def test_optional_sides_make_room_for_those_that_must_be_timed() -> None:
    """Its process finds room only the second time: the first time it asks for more than there is."""
    full = "import os\nseen = os.path.exists('seen'); open('seen', 'w')\nassert seen or torch.empty(1 << 45) is None"
    sides = {timing.EAGER: Side(), timing.CANDIDATE: Side(source=timed.candidate("return self.honest(x)", head=full))}
    found = sessions(job(), sides | {timing.COMPILE: Side(optional=True)}, BRIEF)
    assert found.left_out == {timing.COMPILE: interleave.NO_ROOM} and set(found.sides) == set(sides)
    with pytest.raises(CandidateError) as failed:
        sessions(job(), sides, BRIEF)
    assert failed.value.status is Status.OUT_OF_MEMORY


@pytest.mark.parametrize(
    ("forward", "status", "said"),
    [
        ("return x + torch.ones(3)", Status.RUNTIME_ERROR, "`return x + torch.ones(3)`"),
        ("import os; os._exit(3)", Status.GPU_FAULT, "died"),
        ("return torch.empty(1 << 45)", Status.OUT_OF_MEMORY, "allocate"),
        (
            "self.calls += 1\nassert self.calls < 40, 'worn out'\nreturn self.honest(x)",
            Status.RUNTIME_ERROR,
            "worn out",
        ),
    ],
)
def test_a_candidate_that_fails_is_a_verdict(forward: str, status: Status, said: str) -> None:
    sides = {timing.EAGER: Side(), timing.CANDIDATE: Side(source=timed.candidate(forward))}
    with pytest.raises(CandidateError) as raised:
        sessions(job(), sides, BRIEF)
    assert raised.value.status is status and said in raised.value.feedback


def test_a_reference_that_fails_is_the_machines_fault() -> None:
    with pytest.raises(MachineError, match="timing eager of the reference"):
        sessions(job(timed.problem("return torch.relu_missing(x)")), {timing.EAGER: Side()}, BRIEF)


def test_a_baseline_that_fails_or_takes_too_long_is_left_out() -> None:
    sides = {
        timing.EAGER: Side(),
        "fails": Side(source=timed.candidate("return x.missing"), optional=True),
        "slow": Side(source=timed.candidate("import time; time.sleep(60)"), optional=True, seconds=2),
        "late": Side(source=timed.candidate("self.calls += 1; assert self.calls < 30\nreturn x"), optional=True),
    }
    found = sessions(job(), sides, BRIEF)
    assert list(found.sides) == ["eager"] and len(found.sides["eager"][0].rounds) == 3
    assert "no answer within 2 s" in found.left_out["slow"] and set(found.left_out) == {"fails", "slow", "late"}


def test_rounds_are_mirrored() -> None:
    assert session.mirrored(["a", "b", "c"]) == ["a", "b", "c", "c", "b", "a"]


def test_the_references_timer_is_kept_between_candidates_and_new_for_a_confirmation() -> None:
    sides = {timing.EAGER: Side(), timing.CANDIDATE: Side(source=PLAIN)}
    first, second = (sessions(job(), sides, BRIEF).seeds for _ in range(2))
    assert first == second
    assert sessions(job(), sides, BRIEF._replace(fresh=True)).seeds != first


def test_a_slow_warm_up_does_not_shorten_the_measurement() -> None:
    slow = timed.candidate("self.calls += 1\nimport time; time.sleep(0.2 * (self.calls < 12))\nreturn self.honest(x)")
    found = sessions(job(), {timing.EAGER: Side(), timing.CANDIDATE: Side(source=slow)}, BRIEF)
    assert all(len(turn) >= 2 for turn in found.sides["candidate"][0].rounds)


@pytest.mark.parametrize(
    "told", [{}, {"event_ms": [1.0], "apart": []}, {"event_ms": [1.0, float("nan")], "apart": [[1, 1]]},
             {"event_ms": [1.0, -1.0], "apart": [[1, 1]]}, {"event_ms": [1.0, "2"], "apart": [[1, 1]]}]
)  # fmt: skip
def test_forged_figures(told: dict[str, object]) -> None:
    with pytest.raises(CandidateError, match="forged"):
        block(told, 2, 1)
    assert block({"event_ms": [1, 2.0], "apart": [[1, 2]]}, 2, 1).events == [1.0, 2.0]


def test_forged_answers() -> None:
    assert opened({"typical_ms": 0.1, "sets": 10**9}) == Opened(0.1, 4)
    for told in ({}, {"typical_ms": "x", "sets": 1}, {"typical_ms": float("inf"), "sets": 1}):
        with pytest.raises(CandidateError, match="forged"):
            opened(told)
    for entry in ({}, {"place": "output", "dtype": 3}, None):
        with pytest.raises(CandidateError, match="forged"):
            outputs({"outputs": [entry]})


def test_a_time_below_the_floor_is_no_time() -> None:
    eager, fast = samples(event=1.0, host=1.02), samples(event=0.01, host=0.03)
    assert conclude(Floors(0.009), eager=eager, candidate=fast).speedups[0].ratio > 90
    with pytest.raises(CandidateError, match=r"less than the 0\.0200 ms") as raised:
        conclude(Floors(0.02), eager=eager, candidate=fast)
    assert raised.value.status is Status.CHEAT
    lookup = samples(event=0.015, host=0.02)  # reads little of its table
    conclude(Floors(0.02), eager=lookup, candidate=fast)


def test_fewer_operations_than_the_reference_are_believed_only_with_the_outputs_seen() -> None:
    eager, fast = samples(event=1.0, host=1.02), samples(event=0.01, host=0.03)
    assert conclude(Floors(0.0, 0.5), eager=eager, candidate=fast).conditions.fewer_operations
    assert not conclude(Floors(0.0, 0.005), eager=eager, candidate=fast).conditions.fewer_operations
    with pytest.raises(CandidateError, match="no output of a timed call"):
        conclude(Floors(0.0, 0.5), checked=0, eager=eager, candidate=fast)


def test_work_on_another_stream_is_seen_by_the_second_clock() -> None:
    with pytest.raises(CandidateError, match="another stream"):
        conclude(eager=samples(event=1.0, host=1.02), candidate=samples(event=0.2, host=0.9))


def test_a_little_work_on_another_stream_is_charged_for() -> None:
    eager = samples(event=0.1, host=0.11)
    found = conclude(eager=eager, candidate=samples(event=0.02, host=0.045))
    assert found.conditions.charged_ms == pytest.approx(0.015)
    assert found.timing.median_ms == pytest.approx(0.035, rel=0.02)
    assert conclude(eager=eager, candidate=samples(event=0.02, host=0.032)).conditions.charged_ms == 0


def test_work_between_the_calls_is_seen_by_our_own_clock() -> None:
    eager = samples(event=1.0, host=1.02)
    with pytest.raises(CandidateError, match="by our own clock"):
        conclude(eager=eager, candidate=samples(event=0.2, host=0.2, unexplained=0.9))
    conclude(eager=eager, candidate=samples(event=0.2, host=0.2, unexplained=0.14))


def test_times_are_forged_where_calls_that_are_waited_for_take_far_longer() -> None:
    eager, forged = samples(event=2.0, host=2.02), samples(event=0.4, host=0.42)
    forged[0].apart = [(2.0, 2.02)] * 20
    with pytest.raises(CandidateError, match="forged"):
        conclude(eager=eager, candidate=forged)


def test_a_candidate_whose_launches_take_longer_than_eagers_is_no_cheat() -> None:
    eager, slow = samples(event=0.2, host=0.21), samples(event=0.1, host=0.11)
    slow[0].apart = [(0.35, 0.36)] * 20
    assert conclude(eager=eager, candidate=slow).timing.median_ms == pytest.approx(0.1, rel=0.02)


def test_a_busy_host_is_no_cheat_though_it_strikes_one_side_harder() -> None:
    random = Random(3)
    eager, busy = samples(event=0.2, host=0.21), samples(event=0.2, host=0.21)
    for side, level in ((eager, 0.3), (busy, 0.6)):
        side[0].unexplained = [0.1 + random.expovariate(1 / level) for _ in range(200)]
        side[0].apart = [(0.2, 0.21 + random.expovariate(1 / level)) for _ in range(20)]
    assert conclude(eager=eager, candidate=busy).conditions.charged_ms == 0


def test_the_host_being_slow_for_both_is_no_cheat() -> None:
    slow = conclude(eager=samples(event=0.01, host=0.3), candidate=samples(event=0.008, host=0.31))
    assert slow.timing.samples == 120


def test_torch_compile_is_one_more_baseline() -> None:
    found = conclude(
        eager=samples(event=2.0, host=2.0),
        compile=samples(event=0.9, host=0.9),
        compile_max=samples(event=1.0, host=1.0),
        candidate=samples(event=1.0, host=1.0),
    ).speedups
    assert [speedup.baseline for speedup in found] == ["eager", "compile", "compile_max"]
    assert [speedup.proven for speedup in found] == [True, False, False]


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
def test_on_the_gpu_a_fused_kernel_is_timed_beside_all_baselines(tmp_path: Path) -> None:
    device = detect_device(None)
    source = candidate("", "return torch.relu(torch.addmm(self.fc.bias, x, self.fc.weight.t()))")
    found = timing.compare(problem(), source, device, Policy.STOCK, Store(tmp_path), thorough=True)
    assert found.timing.samples >= 300 and 0 < found.timing.median_ms < 1
    assert [speedup.baseline for speedup in found.speedups][:2] == ["eager", "compile"]
    assert all(speedup.low <= speedup.ratio <= speedup.high for speedup in found.speedups)
    assert 0.7 < found.speedups[0].ratio < 1.4
    told = found.conditions
    assert told.outputs.checked == told.outputs.telling >= 2 * told.sessions
    assert told.clocks.sm_mhz and told.clocks.sm_mhz.low > 300
    assert set(told.graph_ms) >= {"eager", "candidate"} and set(told.warm_ms) >= {"candidate"}
