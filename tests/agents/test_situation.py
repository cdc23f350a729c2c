"""What advice depends on is read from state."""

import pytest

from egg.agents.guidebook import applying
from egg.agents.insight import insight
from egg.agents.situation import classes, situation
from egg.state.problem import Region, Workload
from egg.state.run import AgentState
from egg.state.settings import Policy, Settings
from tests.agents.test_prompts import repairing


def regions(*ops: tuple[str, str]) -> tuple[Region, ...]:
    return tuple(Region(name=f"r{i}", kind=kind, ops=(op,)) for i, (kind, op) in enumerate(ops))


@pytest.mark.parametrize(
    "kind, op, source, expected",
    [
        ("torch", "convolution", "nn.Conv2d(3, 8, 3)", {"torch", "conv"}),
        ("torch", "convolution", "nn.ConvTranspose2d(3, 8, 3)", {"torch", "conv", "conv_transposed"}),
        ("torch", "convolution", "nn.Conv2d(8, 8, 3, groups=8)", {"torch", "conv", "depthwise"}),
        ("torch", "aten.lstm.input", "", {"torch", "recurrent"}),
        ("torch", "_native_batch_norm_legit", "", {"torch", "batch_norm"}),
        ("normalisation", "native_group_norm", "", {"normalisation", "group_norm"}),
        ("torch", "embedding", "", {"torch", "gather"}),
        ("reduction", "argmax", "", {"reduction", "arg"}),
        ("pointwise", "gelu", "groups=2", {"pointwise", "gelu"}),
        ("pointwise", "tanh", "", {"pointwise", "saturating"}),
    ],
)
def test_operator_classes(state: AgentState, kind: str, op: str, source: str, expected: set[str]) -> None:
    workload = state["workload"].model_copy(update={"regions": regions((kind, op))})
    assert set(classes(workload, source)) == expected


def test_a_product_that_streams_its_weight_is_thin(state: AgentState) -> None:
    def of(flops: int) -> Workload:
        changes = {"regions": regions(("gemm", "mm")), "matmul_flops": flops, "min_bytes": 1000}
        return state["workload"].model_copy(update=changes)

    assert "thin_product" in classes(of(2000), "") and "thin_product" not in classes(of(200_000), "")


def test_a_first_draft_knows_no_bottleneck_and_no_verdict(state: AgentState) -> None:
    place = situation(state)
    assert (place.group, place.target, place.policy, place.dtypes) == ("structure", "sm_90", "stock", ("float32",))
    assert {"normalisation", "gelu", "small"} <= set(place.kinds)
    assert (place.bottlenecks, place.status, place.feedback) == ((), "none", "")


def test_a_repair_is_advised_by_the_verdicts_words_and_the_kernel_in_force(state: AgentState) -> None:
    kernel = repairing(state)["incumbent"]
    assert kernel and kernel.evaluation and kernel.evaluation.profile
    (launch,) = kernel.evaluation.profile.launches
    spilling = launch.model_copy(update={"spills": 512, "estimate_ms": 1.0})
    profile = kernel.evaluation.profile.model_copy(update={"launches": (spilling,), "estimate_ms": 1.0})
    verdict = kernel.evaluation.model_copy(update={"profile": profile})
    given: AgentState = {**repairing(state), "incumbent": kernel.model_copy(update={"evaluation": verdict})}
    place = situation(given, insight(given))
    assert place.status == "mismatch" and "last tile" in place.feedback
    assert "spills" in place.bottlenecks
    assert all("mismatch" in guide.statuses for guide in applying(place))


def test_only_the_ieee_policy_makes_a_convolution_exact(state: AgentState) -> None:
    workload = state["workload"].model_copy(update={"regions": regions(("torch", "convolution"))})
    for policy, exact in ((Policy.IEEE, True), (Policy.STOCK, False), (Policy.TF32, False)):
        settings = Settings(policy=policy)
        assert ("exact_conv" in situation({**state, "workload": workload, "settings": settings}).kinds) is exact
