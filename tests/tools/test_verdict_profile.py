"""A profile from what a verdict knows: traced times first, else the estimate."""

from egg.state.bottleneck import BottleneckKind as K
from egg.state.evaluation import Evaluation, Launch, StaticProfile, Status
from egg.state.ownership import KernelTime, Ownership
from egg.state.profile import Profile
from egg.tools.bottleneck import classify
from egg.tools.estimate import LAUNCH_MS
from egg.tools.place import placed
from egg.tools.verdict_profile import of_verdict
from tests.tools.test_bottleneck import H200, MEASURED, PRODUCT, STREAM

TWICE = STREAM.model_copy(update={"calls": 2, "estimate_ms": 0.304})
STATIC = StaticProfile(
    target="sm_90",
    launches=(PRODUCT.model_copy(update={"estimate_ms": 0.504}), TWICE),
    torch_ops=("addmm", "relu", "addmm"),
    estimate_ms=0.504 + 2 * 0.304 + 0.112,
)


def verdict(**given: object) -> Evaluation:
    return Evaluation.model_validate({"status": Status.OK, "mode": "gpu", **given})


def test_nothing_is_known_of_what_was_not_compiled() -> None:
    assert of_verdict(verdict()) is None


def test_predicted_times_leave_out_what_starting_costs() -> None:
    found = of_verdict(verdict(profile=STATIC))
    assert found and found.source == "estimate" and "predicted" in found.note
    ms = {kernel.kernel: round(kernel.ms, 6) for kernel in found.kernels}
    assert ms == {"stream": 0.6, "product": 0.5, "PyTorch: addmm, relu": round(0.112 - 3 * LAUNCH_MS, 6)}
    assert [kernel.calls for kernel in found.kernels] == [2, 1, 3]
    assert not any(kernel.measured for kernel in found.kernels) and not found.kernels[-1].own
    assert abs(sum(kernel.share for kernel in found.kernels) - 1) < 1e-9


def test_what_pytorch_takes_is_what_was_predicted_of_it() -> None:
    """Not what is left: launches that are not listed are in the estimate, too."""
    known = STATIC.model_copy(update={"torch_ms": 0.02, "unlisted_ms": 0.05, "estimate_ms": 9.0})
    found = of_verdict(verdict(profile=known))
    assert found and found.kernels[-1].ms == 0.02 and abs(found.total_ms - (0.5 + 0.6 + 0.02 + 0.05)) < 1e-9


def test_traced_times_are_joined_with_what_compiling_told() -> None:
    kernels = (
        KernelTime(name="stream", ms=0.6, calls=2, own=True),
        KernelTime(name="ampere_sgemm_128x64", ms=0.3, calls=1, own=False, kind="library"),
        KernelTime(name="product", ms=0.1, calls=1, own=False, kind="library"),  # bears the name, is not ours
    )
    own = Ownership(label="partly_triton", share=0.6, own_ms=0.6, other_ms=0.4, kernels=kernels, how="cupti")
    found = of_verdict(verdict(profile=STATIC, ownership=own))
    assert found and (found.source, found.total_ms) == ("times", 1.0)
    assert [kernel.launch for kernel in found.kernels] == [TWICE, None, None]
    assert [kernel.share for kernel in found.kernels] == [0.6, 0.3, 0.1]


def traced(*kernels: KernelTime, launches: tuple[Launch, ...]) -> Profile:
    static = STATIC.model_copy(update={"launches": launches})
    own = Ownership(label="triton", share=1.0, own_ms=sum(k.ms for k in kernels), kernels=kernels, how="cupti")
    found = of_verdict(verdict(profile=static, ownership=own))
    assert found is not None
    return found


LARGE = STREAM
SMALL = STREAM.model_copy(update={"grid": (84, 1, 1), "bytes": 10_000_000, "loaded_bytes": 5e6, "stored_bytes": 5e6})


def test_a_kernel_on_two_grids_is_two() -> None:
    times = (
        KernelTime(name="stream", ms=0.6, calls=1, own=True, grid=(8448, 1, 1)),
        KernelTime(name="stream", ms=0.1, calls=1, own=True, grid=(84,)),
        KernelTime(name="stream", ms=0.1, calls=1, own=True, grid=(85,)),
    )
    assert [k.launch for k in traced(*times, launches=(LARGE, SMALL)).kernels] == [LARGE, SMALL, None]


def test_work_that_is_not_known_to_be_a_kernels_never_puts_it_at_its_ceiling() -> None:
    """Two calls of 0.24 ms on average, one of which moves next to nothing."""
    both = KernelTime(name="stream", ms=0.48, calls=2, own=True)
    (kernel,) = (profile := traced(both, launches=(LARGE, SMALL))).kernels
    assert kernel.launch is None
    assert K.AT_CEILING not in [found.kind for found in classify(placed(profile, H200, MEASURED), H200, MEASURED)]
    alike = LARGE.model_copy(update={"calls": 3, "options": {"maxnreg": "64"}})
    assert traced(both, launches=(LARGE, alike)).kernels[0].launch == LARGE
    same_grid = SMALL.model_copy(update={"grid": LARGE.grid})
    with_grid = both.model_copy(update={"grid": LARGE.grid})
    assert traced(with_grid, launches=(LARGE, same_grid)).kernels[0].launch is None


def test_ownership_by_the_static_profile_is_no_measurement() -> None:
    own = Ownership(label="triton", estimated_share=1.0)
    found = of_verdict(verdict(profile=STATIC, ownership=own))
    assert found and found.source == "estimate"
