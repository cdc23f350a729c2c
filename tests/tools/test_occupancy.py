"""Occupancy against numbers of NVIDIA's occupancy calculator for compute capability 9.0."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egg.tools.device import detect_device
from egg.tools.occupancy import occupancy, waves

H200 = detect_device("sm_90")


@pytest.mark.parametrize(
    ("warps", "registers", "shared", "blocks", "limiter"),
    [
        (8, 32, 0, 8, "warps"),
        (4, 128, 0, 4, "registers"),
        (8, 255, 0, 1, "registers"),
        (4, 46, 0, 10, "registers"),
        (1, 146, 0, 12, "registers"),  # these three as Nsight Compute counted them on an H200
        (4, 38, 16, 12, "registers"),
        (8, 214, 65536, 1, "registers"),
        (1, 16, 0, 32, "blocks"),
        (8, 64, 98304, 2, "shared"),
        (8, 64, 232448, 1, "shared"),
        (8, 64, 232449, 0, "shared"),
    ],
)
def test_resident_blocks(warps: int, registers: int, shared: int, blocks: int, limiter: str) -> None:
    found = occupancy(H200, warps=warps, registers=registers, shared_bytes=shared)
    assert (found.blocks, found.limiter) == (blocks, limiter)
    assert found.fraction == blocks * warps / 64


@given(
    warps=st.sampled_from([1, 2, 4, 8, 16, 32]),
    registers=st.integers(16, 254),
    shared=st.integers(0, 232448 - 1024),
)
def test_using_more_never_raises_it(warps: int, registers: int, shared: int) -> None:
    base = occupancy(H200, warps=warps, registers=registers, shared_bytes=shared)
    assert occupancy(H200, warps=warps, registers=registers + 1, shared_bytes=shared).blocks <= base.blocks
    assert occupancy(H200, warps=warps, registers=registers, shared_bytes=shared + 1024).blocks <= base.blocks
    assert 0 <= base.fraction <= 1


def test_waves() -> None:
    assert waves(H200, 264, 2) == 1.0
    assert waves(H200, 1, 1) == pytest.approx(1 / 132)


MI300X = detect_device("gfx942")


@pytest.mark.parametrize(
    ("warps", "registers", "shared", "blocks", "limiter"),
    [
        (4, 104, 0, 4, "registers"),  # LLVM's own comment on such a kernel: 4 waves a SIMD
        (4, 226, 0, 2, "registers"),
        (4, 32, 0, 8, "warps"),
        (8, 128, 0, 2, "registers"),
        (16, 128, 0, 1, "registers"),
        (4, 256, 0, 2, "registers"),
        (4, 257, 0, 1, "registers"),
        (1, 16, 0, 32, "warps"),
        (2, 16, 0, 16, "warps"),
        (4, 32, 65536, 1, "shared"),
        (4, 32, 65537, 0, "shared"),
        (8, 32, 24576, 2, "shared"),
    ],
)
def test_resident_blocks_of_a_compute_unit(warps: int, registers: int, shared: int, blocks: int, limiter: str) -> None:
    found = occupancy(MI300X, warps=warps, registers=registers, shared_bytes=shared)
    assert (found.blocks, found.limiter) == (blocks, limiter)
    assert found.fraction == min(1.0, blocks * warps / 32)
