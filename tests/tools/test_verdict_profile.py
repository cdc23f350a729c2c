"""A profile from what a verdict knows: traced times first, else the estimate."""

from egg.state.evaluation import Evaluation, StaticProfile, Status
from egg.state.ownership import KernelTime, Ownership
from egg.tools.estimate import LAUNCH_MS
from egg.tools.verdict_profile import of_verdict
from tests.tools.test_bottleneck import PRODUCT, STREAM

TWICE = STREAM.model_copy(update={"calls": 2, "estimate_ms": 0.304})
STATIC = StaticProfile(
    target="sm_90",
    launches=(PRODUCT.model_copy(update={"estimate_ms": 0.504}), TWICE),
    torch_ops=("addmm", "relu", "addmm"),
    estimate_ms=0.504 + 2 * 0.304 + 0.112,
    bottleneck="memory",
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


def test_ownership_by_the_static_profile_is_no_measurement() -> None:
    own = Ownership(label="triton", estimated_share=1.0)
    found = of_verdict(verdict(profile=STATIC, ownership=own))
    assert found and found.source == "estimate"
