"""Counters, times and what compiling tells come together kernel by kernel."""

import pytest

from egg.state.evaluation import Launch, StaticProfile
from egg.tools.counters.join import LISTED, of_counters, of_trace, together
from egg.tools.counters.read import Counted
from egg.tools.profile import joined
from egg.tools.share import Activity, Own, Trace

ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float> >(int, float)"


def launch(kernel: str, grid: tuple[int, ...]) -> Launch:
    return Launch(
        kernel=kernel, grid=grid, warps=4, stages=3, registers=32, spills=0, shared_bytes=0, occupancy=1.0,
        limiter="warps", waves=1.0, bytes=1 << 20, estimate_ms=0.01,
    )  # fmt: skip


STATIC = StaticProfile(
    target="sm_90",
    launches=(launch("norm", (64,)), launch("norm", (128,)), launch("scale", (8, 2))),
    estimate_ms=0.03,
)
TRACE = Trace(
    how="cupti",
    passes=2,
    launches=(
        Own(name="norm", function="norm", grid=(128, 1, 1), count=4),
        Own(name="scale_0d1d", function="scale", grid=(8, 2, 1), count=2),
    ),
    activity=(
        Activity(kind="kernel", name="norm", grid=(128, 1, 1), us=(100, 110, 120, 130)),
        Activity(kind="kernel", name="scale_0d1d", grid=(8, 2, 1), us=(50, 70)),
        Activity(kind="kernel", name=ADD, grid=(32, 1, 1), us=(30, 30)),
        Activity(kind="memset", name="Memset (Device)", grid=(), us=(2, 2)),
    ),
)


def counted(kernel: str, grid: tuple[int, ...], ns: float, hits: float, read: float) -> Counted:
    counters = {"duration": ns, "l2_hit_rate": hits, "dram_read_bytes": read}
    return Counted(kernel=kernel, grid=grid, counters=counters)


COUNTED = (
    counted("norm", (128, 1, 1), 3000.0, 10.0, 100.0),
    counted("norm", (128, 1, 1), 1000.0, 50.0, 300.0),
    counted(
        "void at::native::vectorized_elementwise_kernel<(int)4, at::native::AddFunctor<float>>(int, T2)",
        (32, 1, 1), 900.0, 5.0, 64.0,
    ),
)  # fmt: skip


def test_times_name_the_library_s_kernels_and_find_their_launches() -> None:
    profile = of_trace(STATIC, TRACE)
    assert profile.source == "times" and profile.total_ms == pytest.approx(0.322)
    norm, scale, add, memset = profile.kernels
    assert (norm.ms, norm.calls, norm.own) == (pytest.approx(0.23), 2, True)
    assert norm.launch and norm.launch.grid == (128,) and norm.share == pytest.approx(0.23 / 0.322)
    assert scale.launch and scale.launch.kernel == "scale" and scale.ms == pytest.approx(0.06)
    assert (add.own, add.launch, add.kernel) == (False, None, ADD)
    assert not memset.own and memset.ms == pytest.approx(0.002)


def test_counters_are_joined_by_name_and_grid() -> None:
    norm, scale, add, memset = of_trace(STATIC, TRACE, COUNTED).kernels
    assert norm.counters == {"duration": 4000.0, "l2_hit_rate": pytest.approx(20.0), "dram_read_bytes": 400.0}
    assert add.counters["dram_read_bytes"] == 64.0
    assert not scale.counters and not memset.counters


def test_what_is_missing_or_zero_does_no_harm() -> None:
    assert together([]) == {}
    assert together([{"l2_hit_rate": 4.0}, {"l2_hit_rate": 8.0, "duration": 0.0}])["l2_hit_rate"] == 6.0
    odd = TRACE.model_copy(
        update={"activity": (Activity(kind="kernel", name="norm", grid=(1,), us=(float("nan"), -1e9, 5.0)),)}
    )
    assert of_trace(STATIC, odd).total_ms == pytest.approx(0.0025)
    assert of_trace(STATIC, TRACE.model_copy(update={"activity": ()})).kernels == ()


def test_sums_are_of_all_calls_even_if_some_were_counted() -> None:
    each = [{"dram_read_bytes": 10.0, "duration": 2.0, "waves": 1.5}] * 3
    assert together(each, calls=30) == {"dram_read_bytes": 300.0, "duration": 60.0, "waves": 1.5}
    assert together([*each, {"waves": 1.5}], calls=30)["dram_read_bytes"] == 300.0


def test_a_long_list_is_cut_and_adds_up() -> None:
    many = tuple(
        Activity(kind="kernel", name=f"k{number}", grid=(1, 1, 1), us=(1.0 + number, 1.0 + number))
        for number in range(LISTED + 10)
    )
    profile = of_trace(STATIC, TRACE.model_copy(update={"activity": many}))
    assert len(profile.kernels) == LISTED and profile.kernels[-1].kernel == "11 shorter kernels"
    assert sum(kernel.ms for kernel in profile.kernels) == pytest.approx(profile.total_ms)
    assert sum(kernel.share for kernel in profile.kernels) == pytest.approx(1.0)


def test_without_times_nsight_s_own_durations_do() -> None:
    profile = of_counters(STATIC, COUNTED)
    norm, add = profile.kernels
    assert (norm.calls, norm.own, norm.ms) == (2, True, pytest.approx(0.004))
    assert not add.own and add.ms == pytest.approx(0.0009)


def test_launches_that_did_different_work_stand_for_none_of_them() -> None:
    twice = STATIC.model_copy(update={"launches": (launch("norm", (64,)), launch("norm", (32,)))})
    elsewhere = [counted("norm", (16,), 1000.0, 10.0, 8.0)]
    (kernel,) = of_counters(twice, elsewhere).kernels
    assert kernel.own and kernel.launch is None
    (there,) = of_counters(twice, [counted("norm", (32,), 1000.0, 10.0, 8.0)]).kernels
    assert there.launch and there.launch.grid == (32,)


def test_each_lack_has_its_line() -> None:
    best = joined(STATIC, TRACE, COUNTED)
    assert (best.source, best.note) == ("counters", "")
    timed = joined(STATIC, TRACE, (), uncounted="this user may not")
    assert (timed.source, timed.note) == ("times", "no counters: this user may not")
    events = TRACE.model_copy(update={"how": "events", "why": "no CUPTI"})
    assert joined(STATIC, events, (), untimed="no CUPTI", uncounted="no ncu").source == "times"
    durations = joined(STATIC, events, COUNTED, untimed="no CUPTI")
    assert durations.source == "counters" and durations.note.endswith("times are Nsight Compute's")
    nothing = joined(STATIC, None, (), untimed="it died", uncounted="no ncu")
    assert nothing.source == "estimate" and not any(kernel.measured for kernel in nothing.kernels)
    assert "it died" in nothing.note and "no ncu" in nothing.note and "\n" not in nothing.note
