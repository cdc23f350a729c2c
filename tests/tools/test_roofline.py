"""Bounds worked out by hand for an H200."""

import pytest

from egg.state.problem import Region, TensorSpec, Workload
from egg.state.settings import Policy
from egg.tools.device import detect_device
from egg.tools.roofline import arithmetic_floor_ms, floor_ms, matmul_rate, roofline_ms

H200 = detect_device("sm_90")


def workload(**changes: object) -> Workload:
    base = Workload(
        inputs=(TensorSpec(shape=(4096, 4096), dtype="float32"),),
        outputs=(TensorSpec(shape=(4096, 4096), dtype="float32"),),
        parameters=0, flops=2 * 4096**3, matmul_flops=2 * 4096**3, min_bytes=3 * 4 * 4096**2,
        regions=(Region(name="r0", kind="gemm", ops=("mm",)),), structures=("unfused",),
    )  # fmt: skip
    return base.model_copy(update=changes)


def test_a_large_product_is_bound_by_the_policys_rate() -> None:
    least, bound = roofline_ms(workload(), H200, Policy.TF32)
    assert bound == "compute" and least == pytest.approx(2 * 4096**3 / 494.7e12 * 1e3)
    least, _ = roofline_ms(workload(), H200, Policy.IEEE)
    assert least == pytest.approx(2 * 4096**3 / (989.4e12 / 3) * 1e3)


def test_half_precision_inputs_use_their_own_unit() -> None:
    half = workload(inputs=(TensorSpec(shape=(4096, 4096), dtype="bfloat16"),))
    assert matmul_rate(half, H200, Policy.STOCK) == H200.peak["bf16"]


def test_stock_convolutions_may_use_tf32() -> None:
    convolution = workload(regions=(Region(name="r0", kind="torch", ops=("convolution",)),))
    assert matmul_rate(convolution, H200, Policy.STOCK) == H200.peak["tf32"]
    assert matmul_rate(convolution, H200, Policy.IEEE) < H200.peak["tf32"]


def test_little_arithmetic_is_bound_by_memory() -> None:
    stream = workload(flops=10**6, matmul_flops=0, min_bytes=48 * 10**9)
    assert roofline_ms(stream, H200, Policy.STOCK) == (pytest.approx(10.0), "memory")


def test_the_floor_lies_below_the_roofline_and_spares_the_degenerate() -> None:
    stream = workload(flops=0, matmul_flops=0, min_bytes=48 * 10**9)
    assert 8.9 < floor_ms(stream, H200) < 9.0
    assert floor_ms(stream.model_copy(update={"degenerate": ("constant output",)}), H200) == 0.0
    assert floor_ms(workload(min_bytes=1000), H200) == 0.0


def test_the_arithmetic_floor_follows_the_policy_and_spares_the_degenerate() -> None:
    at_tf32 = arithmetic_floor_ms(workload(), H200, Policy.TF32)
    assert at_tf32 == pytest.approx(0.9 * 2 * 4096**3 / 494.7e12 * 1e3)
    assert arithmetic_floor_ms(workload(), H200, Policy.IEEE) > at_tf32
    assert arithmetic_floor_ms(workload(degenerate=("constant output",)), H200, Policy.IEEE) == 0.0
