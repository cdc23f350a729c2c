"""The prediction orders launches as a GPU would; it is never compared with a clock."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egg.state.settings import Policy
from egg.tools.device import detect_device
from egg.tools.estimate import LAUNCH_MS, LaunchFacts, TorchFacts, predict, predict_torch
from egg.tools.instructions import Effort

H200 = detect_device("sm_90")
STREAM = LaunchFacts(
    kernel="k", grid=(4096, 1, 1), warps=8, stages=3, registers=32, spills=0, shared_bytes=0,
    bytes=1 << 28, load_bytes=1 << 27, store_bytes=1 << 27, alu=1e8, step_bytes=1 << 15, steps=1,
)  # fmt: skip
PRODUCT = STREAM.model_copy(
    update={"dots": {"tf32": 1.4e11}, "tensor_core": "wgmma", "shared_bytes": 98304, "steps": 128.0, "registers": 128}
)


def ms(launch: LaunchFacts, **changes: object) -> float:
    return predict(H200, launch.model_copy(update=changes)).ms


@given(
    launch=st.sampled_from([STREAM, PRODUCT]),
    field=st.sampled_from(["bytes", "load_bytes", "alu", "spills"]),
    more=st.floats(1.01, 100.0),
)
def test_more_work_never_takes_less(launch: LaunchFacts, field: str, more: float) -> None:
    value = getattr(launch, field)
    larger = int(max(value, 1) * more) if field in ("bytes", "spills") else value * more
    assert ms(launch, **{field: larger}) >= ms(launch)


@pytest.mark.parametrize(
    "worse",
    [
        {"spills": 200},
        {"registers": 255},
        {"grid": (20, 1, 1)},
        {"dots": {"fp32": 1.4e11}},
        {"dots": {"tf32": 2.8e11}},
        {"tensor_core": "mma"},
        {"stages": 1},
    ],
)
def test_what_slows_a_product(worse: dict[str, object]) -> None:
    assert ms(PRODUCT, **worse) > ms(PRODUCT)


@pytest.mark.parametrize(
    "worse", [{"grid": (16, 1, 1)}, {"grid": (1100, 1, 1)}, {"registers": 255}, {"step_bytes": 256}]
)
def test_what_slows_a_stream(worse: dict[str, object]) -> None:
    assert ms(STREAM, **worse) > ms(STREAM, grid=(1056, 1, 1))


def test_a_stream_is_near_the_rate_of_memory() -> None:
    predicted = predict(H200, STREAM)
    assert (1 << 28) / 4.8e12 * 1e3 < predicted.ms < 2 * (1 << 28) / 4.8e12 * 1e3


def test_eighths_are_quicker_than_halves_where_there_are_units_for_them() -> None:
    eighths, halves = (PRODUCT.model_copy(update={"dots": {unit: 1e12}}) for unit in ("fp8", "fp16"))
    assert ms(eighths) < ms(halves)
    older = detect_device("sm_80")
    assert predict(older, eighths).ms == predict(older, halves).ms


def test_a_loop_without_loads_waits_for_none() -> None:
    once = Effort(instructions=19_000.0, global_bytes=2048.0, accesses=2.0)  # an H200 takes 0.24 ms for this one
    shape = {"grid": (300, 1, 1), "warps": 32, "registers": 16, "load_bytes": 4.9e6, "store_bytes": 4.9e6}
    sums = STREAM.model_copy(update={**shape, "steps": 4000.0, "effort": once})
    assert 0.1 < ms(sums) < 0.5
    assert ms(sums, effort=once.model_copy(update={"accesses": 4000.0})) > 1.0


def test_a_tiny_launch_takes_little_more_than_launching() -> None:
    tiny = STREAM.model_copy(update={"bytes": 4096, "load_bytes": 4096, "store_bytes": 0, "alu": 0, "grid": (1, 1, 1)})
    assert LAUNCH_MS < ms(tiny) < 2 * LAUNCH_MS


def test_what_does_not_fit_takes_forever() -> None:
    assert ms(STREAM, shared_bytes=300_000) == float("inf")


def test_torch_operators_cost_by_policy() -> None:
    product = TorchFacts(name="addmm", bytes=1 << 26, flops=1e11, dtype="float32")
    assert predict_torch(H200, Policy.TF32, product) < predict_torch(H200, Policy.IEEE, product)
    convolution = product.model_copy(update={"name": "convolution"})
    assert predict_torch(H200, Policy.STOCK, convolution) < predict_torch(H200, Policy.IEEE, convolution)
