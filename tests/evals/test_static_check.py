"""What compiling told beside what was counted."""

from typing import Any

import pytest

from egg.evals.static_check import LEAST_KERNELS, THREE, compared, passed, summary, told
from egg.state.evaluation import Launch
from egg.state.profile import KernelProfile, Profile

LAUNCH = Launch(
    kernel="product", grid=(64, 1, 1), warps=8, stages=3, registers=128, spills=0, shared_bytes=98304, occupancy=0.125,
    limiter="shared", waves=0.5, bytes=1 << 20, estimate_ms=0.1,
)  # fmt: skip
COUNTERS = {
    "registers": 128.0, "shared_dynamic": 98304.0, "shared_static": 0.0, "occupancy": 12.5, "duration": 200_000.0,
}  # fmt: skip


def profile(*counters: dict[str, float]) -> Profile:
    kernels = tuple(
        KernelProfile(
            kernel=f"k{n}", ms=0.2, share=1 / len(counters), measured=True, own=True, launch=LAUNCH, counters=each
        )
        for n, each in enumerate(counters)
    )
    return Profile(target="sm_90", kernels=kernels, total_ms=0.2 * len(counters), source="counters")


def test_equal_figures_do_not_differ() -> None:
    (row,) = compared(profile(COUNTERS))
    assert row["compared"] and row["differs"] == []
    assert row["share"] == row["counted_share"] == 1.0


@pytest.mark.parametrize(
    ("name", "value", "differs"),
    [("registers", 136.0, "registers"), ("shared_static", 16.0, "shared_bytes"), ("occupancy", 25.0, "occupancy")],
)
def test_each_figure_is_compared(name: str, value: float, differs: str) -> None:
    assert compared(profile(COUNTERS | {name: value}))[0]["differs"] == [differs]


def test_what_was_not_counted_is_not_compared() -> None:
    row = compared(profile({name: value for name, value in COUNTERS.items() if name != "occupancy"}))[0]
    assert not row["compared"] and not row["differs"]
    assert not compared(profile({}))[0]["compared"]


def parts(*durations: float, kernels: int = LEAST_KERNELS) -> dict[str, Any]:
    three = compared(profile(*(COUNTERS | {"duration": ns} for ns in durations)))
    rest = compared(profile(*[COUNTERS] * (kernels - len(durations))))
    return {"-".join(THREE): {"kernels": three, "note": ""}, "other": {"kernels": rest, "note": "a note"}}


def test_shares_of_three_kernels_must_agree() -> None:
    found = summary(parts(200e3, 202e3, 198e3))
    assert passed(found) and max(found["shares_apart"].values()) == pytest.approx(0.01, rel=0.1)
    assert not passed(summary(parts(200e3, 220e3, 180e3)))


def test_too_few_kernels_or_one_that_differs_fail() -> None:
    assert not passed(summary(parts(200e3, 200e3, 200e3, kernels=LEAST_KERNELS - 1)))
    wrong = parts(200e3, 200e3, 200e3)
    wrong["other"]["kernels"] += compared(profile(COUNTERS | {"registers": 1.0}))
    assert not passed(summary(wrong)) and "other: k0: registers" in told(summary(wrong))


def test_times_that_are_the_profiler_s_own_prove_nothing() -> None:
    alike = parts(200e3, 200e3, 200e3)
    alike["other"]["note"] = "no times by CUPTI: it is not there; times are Nsight Compute's"
    assert not passed(summary(alike))
