"""The roofline places what is known, and says nothing of what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egg.state.place import Place
from egg.state.problem import TensorSpec, Workload
from egg.state.profile import KernelProfile, Profile
from egg.state.settings import Policy
from egg.tools.device import detect_device
from egg.tools.diagnosis import diagnose
from egg.tools.place import place, place_forward
from tests.tools.test_bottleneck import DATASHEET, H200, MEASURED, PRODUCT, STREAM, kernel

WORKLOAD = Workload(
    inputs=(TensorSpec(shape=(1, 1), dtype="float32"),),
    outputs=(),
    parameters=0,
    flops=1_000_000_000,
    matmul_flops=0,
    min_bytes=1_000_000_000,
    regions=(),
    structures=(),
)


def profiled(*kernels: KernelProfile) -> Profile:
    return Profile(target="sm_90", kernels=kernels, total_ms=sum(k.ms for k in kernels), source="times")


def test_a_stream_stands_under_the_memory_ceiling() -> None:
    at = place(kernel(STREAM, 0.25), H200, MEASURED)
    assert at and (at.ceiling, at.ceilings) == ("memory", "measured")
    assert at.share == pytest.approx(1e9 / 4.3e12 / 0.25e-3)
    assert at.told() == "at 93 % of the memory ceiling"
    assert at.intensity == pytest.approx(0.25)


def test_a_product_stands_under_the_ceiling_of_its_precision() -> None:
    at = place(kernel(PRODUCT, 0.5), H200, MEASURED)
    assert at and (at.ceiling, at.precision) == ("compute", "tf32")
    assert at.compute == pytest.approx((1.4e11 / 4e14 + 1.6e7 / 5e13) / 0.5e-3)
    assert at.told() == "at 70 % of the tf32 arithmetic ceiling"


def test_a_product_of_eighths_is_held_against_eighths_or_what_does_them() -> None:
    launch = PRODUCT.model_copy(update={"flops": {"fp8": 1.4e11}})
    rates = MEASURED.model_copy(update={"matrix": MEASURED.matrix | {"int8": 1.9e15, "fp8": 1.4e15}})
    known = place(kernel(launch, 0.2), H200, rates)
    assert known and (known.precision, known.compute) == ("fp8", pytest.approx(0.5))
    older = detect_device("sm_80")
    assert "fp8" not in older.peak and H200.peak["fp8"] == H200.peak["int8"]
    halves = place(kernel(launch, 0.4), older, rates.model_copy(update={"matrix": {"fp16": 7e14}}))
    assert halves and halves.compute == pytest.approx(0.5)


def test_calls_share_the_time_and_an_estimate_is_called_one() -> None:
    at = place(kernel(STREAM, 1.0, calls=4, measured=False), H200, DATASHEET)
    assert at and at.ms == 0.25 and at.told().endswith("by the estimate") and at.ceilings == "datasheet"


def test_faster_than_device_memory_is_not_at_its_ceiling() -> None:
    at = place(kernel(STREAM, 0.1), H200, MEASURED)
    assert at and at.share > 2 and at.reached == at.compute < 0.1
    assert "second-level cache" in at.told()


def test_what_crosses_bounds_what_has_to() -> None:
    counters = {"dram_read_bytes": 1e6, "dram_write_bytes": 1e6}
    at = place(kernel(STREAM, 0.25, counters=counters), H200, MEASURED)
    assert at and at.bytes == 2e6 + H200.l2_bytes  # it spans a view of what it touches


def test_a_librarys_kernel_has_a_place_only_by_its_counters() -> None:
    assert place(kernel(None, 0.5), H200, MEASURED) is None
    at = place(kernel(None, 0.5, counters={"dram_read_bytes": 1e9}), H200, MEASURED)
    assert at and at.bytes == 1e9 and at.memory == pytest.approx(1e9 / 4.3e12 / 0.5e-3)


def test_the_pass_is_held_against_what_the_problem_needs() -> None:
    at = place_forward(profiled(kernel(STREAM, 0.25), kernel(STREAM, 0.25)), WORKLOAD, H200, Policy.STOCK, MEASURED)
    assert at and at.memory == pytest.approx(1e9 / 4.3e12 / 0.5e-3) and at.measured
    assert place_forward(profiled(), WORKLOAD, H200, Policy.STOCK, MEASURED) is None


def test_headroom_is_what_is_left_below_the_ceilings() -> None:
    half = kernel(STREAM, 0.25, share=0.5)
    found = diagnose(profiled(half, kernel(None, 0.25, share=0.5)), WORKLOAD, H200, Policy.STOCK, MEASURED)
    assert found.headroom == pytest.approx(1 - 0.5 * 1e9 / 4.3e12 / 0.25e-3)  # the library's might vanish
    assert found.kernels[0].place and found.kernels[1].place is None and found.forward
    assert found.model_copy(update={"source": "estimate"}).headroom is None


@given(
    st.floats(1e-4, 1e3),
    st.integers(1, 100),
    st.integers(0, 1 << 40),
    st.dictionaries(st.sampled_from(["fp32", "tf32"]), st.floats(0, 1e15)),
)
def test_less_time_for_the_same_is_nearer_the_ceiling(
    ms: float, calls: int, size: int, flops: dict[str, float]
) -> None:
    launch = STREAM.model_copy(update={"bytes": size, "flops": flops})
    slow, fast = (place(kernel(launch, ms / by, calls=calls), H200, MEASURED) for by in (1, 2))
    assert (slow is None) == (fast is None)
    if slow and fast:
        assert fast.share >= slow.share and 0 <= slow.reached <= 1
        assert Place.model_validate_json(slow.model_dump_json()) == slow
