"""Whose kernels keep the GPU busy, by records of launches and not by names; and what a static profile alone says."""

from typing import Any

import pytest

from egg.state.evaluation import Launch, StaticProfile, Status, Timing
from egg.tools.errors import CandidateError
from egg.tools.sandbox.client import run
from egg.tools.share import Trace, attribute, no_work, not_ours, owned, predicted, read_replay, read_trace

CUBLAS = "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x32_cublas"
FILL = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >"
COPY = "void at::native::elementwise_kernel<128, 2, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)>"
INDUCTOR = "triton_poi_fused_relu_0"
Rows = list[tuple[Any, ...]]


def trace(launches: Rows, activity: Rows, how: str = "cupti", passes: int = 1) -> Trace:
    return read_trace(
        {
            "how": how,
            "passes": passes,
            "launches": [{"name": n, "function": n, "grid": g, "count": c} for n, g, c in launches],
            "activity": [{"kind": k, "name": n, "grid": g, "us": us} for k, n, g, us in activity],
        }
    )


def profile(*kernels: str, torch_ops: tuple[str, ...] = (), torch_share: float = 0.0) -> StaticProfile:
    launches = [
        Launch(
            kernel=kernel,
            grid=(1,),
            warps=4,
            stages=1,
            registers=16,
            spills=0,
            shared_bytes=0,
            occupancy=1,
            limiter="warps",
            waves=1,
            bytes=8,
            estimate_ms=0.01,
        )
        for kernel in kernels
    ]
    return StaticProfile(
        target="sm_90",
        launches=tuple(launches),
        torch_ops=torch_ops,
        torch_share=torch_share,
        estimate_ms=0.01,
    )


def shares(seen: Trace) -> dict[tuple[str, str], tuple[float, int]]:
    return {(kernel.name, kernel.kind): (round(kernel.ms, 6), kernel.calls) for kernel in attribute(seen)}


def test_a_kernel_is_own_by_its_launch() -> None:
    seen = trace(
        [("scale", (8, 1, 1), 2), (CUBLAS, (4, 1, 1), 2)],
        [
            ("kernel", "scale", (8, 1, 1), [10.0, 12.0]),
            ("kernel", CUBLAS, (4, 1, 1), [100.0, 100.0]),
            ("kernel", INDUCTOR, (8, 1, 1), [50.0, 50.0]),
        ],
        passes=2,
    )
    assert shares(seen) == {(CUBLAS, "own"): (0.1, 1), (INDUCTOR, "library"): (0.05, 1), ("scale", "own"): (0.011, 1)}
    assert [kernel.own for kernel in attribute(seen)] == [True, False, True]


def test_own_kernels_are_apart_by_grid_and_others_summed() -> None:
    seen = trace(
        [("scale", (8, 1, 1), 1), ("scale", (64, 1, 1), 1)],
        [
            ("kernel", "scale", (8, 1, 1), [10.0]),
            ("kernel", "scale", (64, 1, 1), [70.0]),
            ("kernel", CUBLAS, (4, 1, 1), [30.0]),
            ("kernel", CUBLAS, (5, 1, 1), [20.0]),
        ],
    )
    found = [(kernel.name, kernel.grid, round(kernel.ms, 6)) for kernel in attribute(seen)]
    assert found == [("scale", (64, 1, 1), 0.07), (CUBLAS, (), 0.05), ("scale", (8, 1, 1), 0.01)]


def test_a_name_alone_proves_nothing() -> None:
    seen = trace(
        [(CUBLAS, (4, 1, 1), 1), ("scale", (8, 1, 1), 1)],
        [
            ("kernel", CUBLAS, (4, 1, 1), [400.0, 2.0]),
            ("kernel", CUBLAS, (64, 1, 1), [300.0]),
            ("kernel", "scale", (9, 1, 1), [5.0]),
        ],
    )
    assert shares(seen) == {
        (CUBLAS, "own"): (0.002, 1),
        (CUBLAS, "library"): (0.7, 2),
        ("scale", "library"): (0.005, 1),
    }


def test_copies_and_fills_are_apart() -> None:
    seen = trace(
        [(FILL, (1, 1, 1), 1)],
        [
            ("kernel", FILL, (1, 1, 1), [3.0]),
            ("kernel", FILL, (2, 1, 1), [1.0]),
            ("kernel", COPY, (2, 1, 1), [4.0]),
            ("memcpy", "Memcpy DtoD (Device -> Device)", (), [5.0]),
            ("memset", "Memset (Device)", (), [6.0]),
        ],
    )
    told = owned(seen, profile(FILL), None)
    assert (told.own_ms, told.other_ms, told.moved_ms) == pytest.approx((0.003, 0.0, 0.016))
    assert told.label == "partly_triton" and told.share == pytest.approx(3 / 19)


@pytest.mark.parametrize(
    ("own", "library", "fill", "label"),
    [
        (95.0, 5.0, 0.0, "triton"),
        (80.0, 20.0, 0.0, "partly_triton"),
        (50.0, 0.0, 20.0, "triton"),
        (50.0, 0.0, 60.0, "partly_triton"),
        (1.0, 99.0, 0.0, "partly_triton"),
        (0.9, 99.0, 0.0, "not_triton"),
        (0.9, 0.0, 99.0, "not_triton"),
        (0.0, 0.0, 0.0, "not_triton"),
    ],
)
def test_labels(own: float, library: float, fill: float, label: str) -> None:
    rows = [("kernel", "mine", (1,), [own]), ("kernel", CUBLAS, (1,), [library]), ("memset", "Memset", (), [fill])]
    told = owned(trace([("mine", (1,), 1)], rows), profile("mine"), None)
    assert told.label == label
    failed = not_ours(told)
    assert (failed is not None) == (label == "not_triton")
    if failed:
        assert failed.status is Status.NOT_TRITON and "of the GPU time" in failed.feedback


def test_a_pass_that_is_looked_at_must_be_the_one_that_is_timed() -> None:
    seen = trace([("mine", (1,), 1)], [("kernel", "mine", (1,), [1000.0])])
    timing = Timing(median_ms=0.9, p20_ms=0.9, p80_ms=0.9, samples=10)
    assert owned(seen, profile("mine"), timing).note == ""
    fast = timing.model_copy(update={"median_ms": 0.2})
    with pytest.raises(CandidateError, match="does other work when it is looked at"):
        owned(seen, profile("mine"), fast)


def test_what_does_not_agree_is_told() -> None:
    seen = trace([("mine", (1,), 3), ("other", (2,), 1)], [("kernel", "mine", (1,), [9.0])])
    told = owned(seen, profile("other"), None)
    assert told.note == "3 of 4 launches were not seen on the GPU; not among the launches recorded without a GPU: mine"


def test_by_events_the_rest_is_one_thing() -> None:
    rows = [("kernel", "mine", (1,), [9.0, 11.0]), ("rest", "everything else", (), [30.0, 30.0])]
    told = owned(trace([("mine", (1,), 2)], rows, how="events", passes=2), profile("mine"), None)
    assert told.how == "events" and told.share == pytest.approx(0.25) and told.label == "partly_triton"


@pytest.mark.parametrize("forged", [None, {}, {"how": "cupti", "passes": 0, "launches": [], "activity": []}, 3])
def test_a_forged_trace_is_no_trace(forged: Any) -> None:
    with pytest.raises(CandidateError, match="forged"):
        read_trace(forged)


def test_without_a_gpu_the_operators_tell() -> None:
    ops = ("empty_like", "zero_", "addmm", "clone")
    partly = predicted(profile("mine", torch_ops=ops, torch_share=0.6))
    assert (partly.label, partly.share, partly.torch_ops) == ("partly_triton", None, ("addmm",))
    assert predicted(profile("mine", torch_ops=ops, torch_share=0.05)).label == "triton"


def test_what_a_replay_means() -> None:
    honest = {"idle": False, "answered": "", "hides": False}
    assert no_work(None, 0) is None and no_work(honest, 4) is None
    for found, launches, status in (
        (honest, 0, Status.NOT_TRITON),
        (honest | {"idle": True}, 1, Status.NOT_TRITON),
        (honest | {"answered": "mm"}, 1, Status.NOT_TRITON),
        (honest | {"hides": True}, 1, Status.REJECTED),
    ):
        failed = no_work(read_replay(found), launches)
        assert failed is not None and failed.status is status
    with pytest.raises(KeyError):
        read_replay({"idle": 0})


def test_a_trace_file_is_read_as_kineto_writes_it() -> None:
    assert run("tests.tools.share_child:parsed", {}).require("parsing")["activity"] == [
        {"kind": "kernel", "name": "mine", "grid": [8, 1, 1], "us": [4.5, 5.5]},
        {"kind": "kernel", "name": "mine", "grid": [9, 1, 1], "us": [7.0]},
        {"kind": "memset", "name": "Memset (Device)", "grid": [], "us": [1.25]},
    ]


def test_every_way_to_launch_is_seen() -> None:
    seen = run("tests.tools.share_child:launched", {"mode": "on"}).require("launching")
    kernels = [["double", [4, 1, 1], True], ["double", [2, 1, 1], True], ["tuned", [4, 1, 1], True]]
    assert seen["launches"][:2] == kernels[:2] and seen["launches"][-2] == kernels[2], "plain, by warmup, tuned"
    assert seen["launches"][-1] == ["double", [4, 1, 1], False], "the same kernel from another file is not its own"
    assert seen["recorded"] == len(seen["launches"]) and seen["around"] == 1


def test_launches_can_be_left_out_and_can_fail() -> None:
    off = run("tests.tools.share_child:launched", {"mode": "off"}).require("launching")
    assert off["recorded"] == 1 and off["launches"][-1][2] is False
    reply = run("tests.tools.share_child:launched", {"mode": "fail"})
    assert not reply.ok and "launching double failed" in reply.error
