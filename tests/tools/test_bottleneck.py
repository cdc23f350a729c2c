"""Classification: every kind can be reached, always with its figure and threshold, whatever the figures are."""

from math import inf, isfinite, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egg.state.bottleneck import Bottleneck, BottleneckKind, Evidence
from egg.state.ceilings import Ceilings
from egg.state.evaluation import Launch
from egg.state.metrics import BY_NAME
from egg.state.place import Place
from egg.state.profile import KernelProfile, Profile
from egg.state.stage import GROUPS
from egg.tools.bottleneck import classify
from egg.tools.device import detect_device
from egg.tools.place import placed

H200 = detect_device("sm_90")
MEASURED = Ceilings(
    copy_rate=4.0e12, read_rate=4.3e12, l2_rate=1.1e13, matrix={"fp32": 5e13, "tf32": 4e14, "fp16": 7e14},
    measured=True, how="test",
)  # fmt: skip
DATASHEET = MEASURED.model_copy(update={"copy_rate": 4.8e12, "read_rate": 4.8e12, "matrix": {}, "measured": False})
STREAM = Launch(
    kernel="stream", grid=(8448, 1, 1), warps=8, stages=1, registers=32, spills=0, shared_bytes=0, occupancy=1.0,
    limiter="warps", waves=8.0, bytes=1_000_000_000, estimate_ms=0.3, loaded_bytes=5e8, stored_bytes=5e8,
    flops={"fp32": 2.5e8}, load_bits=128,
)  # fmt: skip
PRODUCT = STREAM.model_copy(
    update={
        "kernel": "product", "warps": 8, "stages": 3, "registers": 168, "shared_bytes": 98304, "occupancy": 0.125,
        "limiter": "shared", "tensor_core": "wgmma", "bytes": 200_000_000, "loaded_bytes": 2e9, "stored_bytes": 6.7e7,
        "flops": {"tf32": 1.4e11, "fp32": 1.6e7},
    }
)  # fmt: skip


def kernel(launch: Launch | None, ms: float, *, measured: bool = True, **given: object) -> KernelProfile:
    name = launch.kernel if launch else "library"
    own = launch is not None
    return KernelProfile.model_validate(
        {"kernel": name, "ms": ms, "share": 1.0, "measured": measured, "own": own, "launch": launch, **given}
    )


def found(*kernels: KernelProfile, ceilings: Ceilings = MEASURED, forward: Place | None = None) -> list[Bottleneck]:
    total = sum(k.ms for k in kernels)
    shared = tuple(k.model_copy(update={"share": min(1.0, k.ms / total) if total else 0.0}) for k in kernels)
    profile = Profile(target="sm_90", kernels=shared, total_ms=total, source="times")
    return list(classify(placed(profile, H200, ceilings), H200, ceilings, forward))


def only(*kernels: KernelProfile, **given: object) -> Bottleneck:
    (bottleneck,) = found(*kernels, **given)  # type: ignore[arg-type]
    return bottleneck


K = BottleneckKind
CASES: dict[str, tuple[KernelProfile, BottleneckKind, str | None, str]] = {
    "at the copy's rate": (kernel(STREAM, 0.24), K.AT_CEILING, None, "memory"),
    "three quarters of it": (kernel(STREAM, 0.31), K.MEMORY_BANDWIDTH, "structure", ""),
    "the same in halves of a word": (
        kernel(STREAM.model_copy(update={"load_bits": 16}), 0.31), K.MEMORY_BANDWIDTH, "memory", "",
    ),
    "sectors half empty": (
        kernel(STREAM, 0.31, counters={"load_bytes_per_sector": 4.0}), K.MEMORY_BANDWIDTH, "memory", "",
    ),
    "three microseconds": (kernel(STREAM, 0.003), K.LAUNCH_BOUND, "structure", ""),
    "spilling": (kernel(STREAM.model_copy(update={"spills": 200}), 2.0), K.SPILLS, "tiling", "registers"),
    "twenty programs": (
        kernel(STREAM.model_copy(update={"grid": (20, 1, 1), "waves": 0.04}), 2.0), K.TOO_FEW_PROGRAMS, "mapping", "",
    ),
    "a warp a multiprocessor": (
        kernel(STREAM.model_copy(update={"grid": (132, 1, 1), "warps": 1, "waves": 0.03}), 2.0),
        K.TOO_FEW_PROGRAMS, "mapping", "",
    ),
    "a wave and a tenth": (
        kernel(STREAM.model_copy(update={"grid": (1162, 1, 1), "waves": 1.1}), 2.0), K.IMBALANCE, "mapping", "",
    ),
    "uneven programs": (
        kernel(STREAM, 2.0, counters={"busy_cycles": 4e5, "busiest_cycles": 1e6}), K.IMBALANCE, "mapping", "",
    ),
    "a block of 255 registers": (
        kernel(STREAM.model_copy(update={"occupancy": 0.125, "limiter": "registers"}), 2.0),
        K.OCCUPANCY, "tiling", "registers",
    ),
    "stages that fill shared memory": (
        kernel(STREAM.model_copy(update={"occupancy": 0.125, "limiter": "shared", "stages": 4}), 2.0),
        K.OCCUPANCY, "memory", "shared",
    ),
    "rows read six times from the cache": (
        kernel(STREAM.model_copy(update={"loaded_bytes": 6e9, "bytes": 100_000_000}), 0.7),
        K.L2, "tiling", "throughput",
    ),
    "small tiles that live off shared memory": (
        kernel(
            PRODUCT.model_copy(update={"tensor_core": "none", "flops": {"fp32": 1.4e11}}),
            9.0,
            counters={"l1_throughput": 95.0, "fp32_pipe": 21.0, "l2_throughput": 14.0, "dram_throughput": 9.0},
        ),
        K.L1, "tiling", "throughput",
    ),
    "operands read again from memory": (
        kernel(PRODUCT, 0.9, counters={"dram_read_bytes": 2.4e9, "dram_write_bytes": 6.7e7, "duration": 9e5}),
        K.L2, "mapping", "misses",
    ),
    "sectors half empty on the way through the caches": (
        kernel(STREAM, 0.9, counters={"load_bytes_per_sector": 4.0, "l2_throughput": 77.0, "dram_throughput": 40.0}),
        K.L2, "memory", "throughput",
    ),
    "a stream that fills the issue slots": (
        kernel(STREAM, 0.9, counters={"issue_active": 99.0, "fp32_pipe": 20.0, "tensor_pipe": 0.0}),
        K.COMPUTE, "structure", "issue slots",
    ),
    "a product that fills the issue slots": (
        kernel(PRODUCT, 0.9, counters={"issue_active": 95.0, "tensor_pipe": 30.0}), K.COMPUTE, "structure",
        "issue slots",
    ),
    "a product on the matrix units that is taken for none": (
        kernel(STREAM, 0.9, counters={"tensor_pipe": 85.0, "fp32_pipe": 2.0, "issue_active": 9.0}),
        K.COMPUTE, "structure", "matrix units",
    ),
    "a loop as long as its data have it": (
        kernel(STREAM.model_copy(update={"guessed": True, "loaded_bytes": 1e5, "stored_bytes": 1e5}), 0.24),
        K.AT_CEILING, None, "memory",
    ),
    "a library's product": (
        kernel(None, 0.5, counters={"tensor_pipe": 40.0, "fp32_pipe": 1.0, "occupancy": 12.5, "dram_throughput": 20.0}),
        K.TENSOR_PIPE_STARVED, "structure", "",
    ),
    "a good product": (kernel(PRODUCT, 0.45), K.COMPUTE, "structure", "tf32"),
    "a product at the ceiling": (kernel(PRODUCT, 0.36), K.AT_CEILING, None, "compute"),
    "a product of plain units": (
        kernel(PRODUCT.model_copy(update={"tensor_core": "none", "flops": {"fp32": 1.4e11}}), 3.6),
        K.COMPUTE, "structure", "fp32",
    ),
    "a product with the old instruction": (
        kernel(PRODUCT.model_copy(update={"tensor_core": "mma"}), 1.585), K.TENSOR_PIPE_STARVED, "memory", "mma",
    ),
    "a deep pipeline that starves": (
        kernel(PRODUCT.model_copy(update={"stages": 4}), 1.0), K.TENSOR_PIPE_STARVED, "tiling", "wgmma",
    ),
    "half the copy's rate": (kernel(STREAM, 0.6), K.MEMORY_LATENCY, "memory", ""),
    "warps that wait": (kernel(STREAM, 0.6, counters={"stall_memory": 45.0}), K.MEMORY_LATENCY, "memory", ""),
    "a library's": (
        kernel(None, 0.5, counters={"dram_throughput": 70.0, "sm_throughput": 20.0}),
        K.MEMORY_BANDWIDTH, "structure", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_each_kind(name: str) -> None:
    given, kind, stage, limiter = CASES[name]
    bottleneck = only(given)
    assert (bottleneck.kind, bottleneck.stage, bottleneck.limiter) == (kind, stage, limiter)


def test_the_cases_reach_every_kind() -> None:
    assert {kind for _, kind, _, _ in CASES.values()} == set(BottleneckKind)


def test_counters_are_believed_before_times() -> None:
    busy = {"dram_throughput": 75.0}
    assert only(kernel(STREAM, 0.6, counters=busy)).kind is K.MEMORY_BANDWIDTH
    assert found(kernel(STREAM, 0.6, counters={"stall_memory": 3.0})) == []  # not slow for memory; nobody knows why
    off_the_path = kernel(STREAM.model_copy(update={"spills": 64}), 0.31, counters={"local_bytes": 1e3})
    assert only(off_the_path).kind is K.MEMORY_BANDWIDTH


def test_spilled_registers_are_no_bytes_that_are_read_again() -> None:
    counters = {"dram_read_bytes": 2.2e9, "dram_write_bytes": 1.8e9, "duration": 1.07e6, "local_bytes": 2e9}
    spilling = kernel(STREAM.model_copy(update={"spills": 200}), 1.07, counters=counters)
    assert [bottleneck.kind for bottleneck in found(spilling)] == [K.SPILLS, K.MEMORY_BANDWIDTH]


def test_counted_programs_and_warps_are_believed_before_those_of_the_launch() -> None:
    assert only(kernel(STREAM, 2.0, counters={"grid_size": 20.0})).kind is K.TOO_FEW_PROGRAMS
    assert only(kernel(STREAM, 2.0, counters={"grid_size": 132.0, "block_size": 32.0})).kind is K.TOO_FEW_PROGRAMS


def test_the_figure_names_the_pipe() -> None:
    busy = only(kernel(STREAM, 0.9, counters={"issue_active": 7e9, "fp32_pipe": 83.0}))
    assert busy.evidence[0].figure == "issue slots at work" and busy.evidence[0].value == 1e6
    starved = only(kernel(PRODUCT, 1.5, counters={"issue_active": 50.0, "tensor_pipe": 20.0}))
    assert (starved.kind, starved.evidence[0].value) == (K.TENSOR_PIPE_STARVED, 20.0)


def test_an_estimate_is_never_at_the_ceiling() -> None:
    bottleneck = only(kernel(STREAM, 0.21, measured=False), ceilings=DATASHEET)
    assert bottleneck.kind is K.MEMORY_BANDWIDTH and bottleneck.evidence[0].source == "static"


def test_a_kernels_place_is_taken_as_it_was_given() -> None:
    at = Place(ms=0.6, measured=True, bytes=2e9, flops=0, memory=0.95, compute=0.0, ceilings="measured")
    profile = Profile(target="sm_90", kernels=(kernel(STREAM, 0.6, place=at),), total_ms=0.6, source="times")
    assert [bottleneck.kind for bottleneck in classify(profile, H200, MEASURED)] == [K.AT_CEILING]


def test_many_short_kernels_are_bound_by_being_started() -> None:
    first, *rest = found(*(kernel(STREAM.model_copy(update={"kernel": f"k{n}"}), 0.002) for n in range(3)))
    assert (first.kind, first.kernel, first.stage) == (K.LAUNCH_BOUND, "", "structure")
    assert [bottleneck.kind for bottleneck in rest] == [K.LAUNCH_BOUND] * 3


def test_a_pass_at_its_ceiling_says_so_first() -> None:
    forward = Place(ms=0.5, measured=True, bytes=2e9, flops=0, memory=0.93, compute=0.0, ceilings="measured")
    first, second = found(kernel(STREAM, 0.31), forward=forward)
    assert (first.kind, first.kernel, first.stage) == (K.AT_CEILING, "", None) and second.kind is K.MEMORY_BANDWIDTH
    assert "93 % (≥ 92 %)" in first.told()


def test_evidence_must_be_beyond_its_threshold() -> None:
    with pytest.raises(ValueError, match="at least"):
        Evidence(figure="f", value=1.0, side="at least", threshold=2.0)
    with pytest.raises(ValueError, match="finite"):
        Evidence(figure="f", value=nan, side="at most", threshold=2.0)


figures = st.floats(0, 1e15)
wild = st.one_of(figures, st.sampled_from([nan, inf, -inf, -1.0, 0.0]))
launches = st.builds(
    STREAM.model_copy,
    update=st.fixed_dictionaries(
        {
            "grid": st.tuples(st.integers(0, 1 << 20), st.integers(0, 8)),
            "warps": st.sampled_from([1, 4, 8, 32]),
            "stages": st.integers(1, 6),
            "spills": st.integers(0, 4096),
            "occupancy": st.floats(0, 1),
            "limiter": st.sampled_from(["registers", "shared", "warps", "blocks"]),
            "waves": wild,
            "bytes": st.integers(0, 1 << 40),
            "loaded_bytes": wild,
            "stored_bytes": wild,
            "tensor_core": st.sampled_from(["none", "mma", "wgmma"]),
            "flops": st.dictionaries(st.sampled_from(["fp32", "tf32", "fp16", "unheard_of"]), wild),
            "load_bits": st.sampled_from([None, 8, 16, 32, 128]),
        }
    ),
)
kernels = st.builds(
    KernelProfile,
    kernel=st.sampled_from(["a", "b", "c"]),
    calls=st.integers(1, 1000),
    ms=st.one_of(st.floats(0, 1e6), st.floats(0, 0.01), st.just(5e-324)),
    share=st.floats(0, 1),
    measured=st.booleans(),
    own=st.booleans(),
    launch=st.one_of(st.none(), launches),
    counters=st.dictionaries(st.sampled_from(sorted(BY_NAME)), wild),
)


@given(st.lists(kernels, max_size=4), st.floats(0, 1e6), st.sampled_from([MEASURED, DATASHEET]))
def test_whatever_the_figures(given_: list[KernelProfile], total: float, ceilings: Ceilings) -> None:
    profile = Profile(target="sm_90", kernels=tuple(given_), total_ms=total, source="counters")
    bottlenecks = classify(placed(profile, H200, ceilings), H200, ceilings)
    shares = [bottleneck.share for bottleneck in bottlenecks]
    assert shares == sorted(shares, reverse=True)
    for bottleneck in bottlenecks:
        assert bottleneck.stage in (None, *GROUPS) and (bottleneck.stage is None) == (bottleneck.kind is K.AT_CEILING)
        assert bottleneck.evidence and bottleneck.kernel in ("", *(k.kernel for k in given_))
        for evidence in bottleneck.evidence:
            assert isfinite(evidence.value) and isfinite(evidence.threshold)
            beyond = evidence.value - evidence.threshold
            assert beyond >= 0 if evidence.side == "at least" else beyond <= 0
        assert "nan" not in bottleneck.told() and "inf" not in bottleneck.told()
    assert bottlenecks == classify(placed(profile, H200, ceilings), H200, ceilings)


@given(kernels, st.sampled_from([MEASURED, DATASHEET]))
def test_a_librarys_kernel_is_only_mended_by_structure(given_: KernelProfile, ceilings: Ceilings) -> None:
    theirs = given_.model_copy(update={"own": False})
    profile = Profile(target="sm_90", kernels=(theirs,), total_ms=1.0, source="times")
    assert {bottleneck.stage for bottleneck in classify(placed(profile, H200, ceilings), H200, ceilings)} <= {
        None,
        "structure",
    }


@given(launches, st.floats(0.01, 100), st.sampled_from([MEASURED, DATASHEET]))
def test_one_resource_at_most_is_the_bound(launch: Launch, ms: float, ceilings: Ceilings) -> None:
    used = (K.MEMORY_BANDWIDTH, K.L1, K.L2, K.COMPUTE, K.AT_CEILING)
    bound = (*used, K.MEMORY_LATENCY, K.TENSOR_PIPE_STARVED, K.OCCUPANCY)
    assert sum(bottleneck.kind in bound for bottleneck in found(kernel(launch, ms), ceilings=ceilings)) <= 1
