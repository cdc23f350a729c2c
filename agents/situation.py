"""Where an agent stands, as far as advice depends on it: read from state, never guessed by a model."""

import re

from pydantic import Field

from egg.state.problem import Workload
from egg.state.profile import Profile
from egg.state.record import Record
from egg.state.run import AgentState
from egg.state.settings import Policy

DRAFTING = "none"
"""The status where nothing is broken."""
SMALL_MS, THIN = 0.02, 16.0
"""Roofline below which starting kernels weighs; FLOPs a byte below which a product is bound by memory everywhere."""

CLASSES = {
    "conv": r"convolution|conv[123]d|conv_transpose",
    "recurrent": r"(lstm|gru|rnn_tanh|rnn_relu)(_cell)?$",
    "batch_norm": r"batch_norm",
    "group_norm": r"group_norm|instance_norm",
    "loss": r"_loss|kl_div|cross_entropy",
    "gather": r"^(embedding|gather|index|index_select|take|scatter.*|index_put_?|index_add)$",
    "sort": r"^(sort|topk|argsort|msort|kthvalue)$",
    "arg": r"^arg(max|min)$",
    "random": r"dropout|bernoulli|^rand|normal_$|uniform_$",
    "scan": r"^cum(sum|prod|max|min)|logcumsumexp",
    "pooling": r"pool[123]d",
    "batched": r"^(bmm|baddbmm)$",
    "gelu": r"^gelu",
    "saturating": r"^(tanh|softplus|mish|log_sigmoid.*)$",
}
"""Operator classes by the names of ATen's operators, beside the kinds of the regions."""
WORDS = {"conv_transposed": r"ConvTranspose|conv_transpose", "depthwise": r"\bgroups\s*="}
"""What ATen's names do not tell, by the problem's source."""


class Situation(Record):
    """One agent's position."""

    group: str = Field(description="The stage's decision group")
    target: str = "sm_90"
    kinds: tuple[str, ...] = Field((), description="Operator classes of the module")
    policy: str = "stock"
    dtypes: tuple[str, ...] = ("float32",)
    bottlenecks: tuple[str, ...] = Field((), description="Of the kernel in force; none without one")
    status: str = Field(DRAFTING, description="The verdict on the draft to be repaired")
    feedback: str = Field("", description="What the judge says of it")


def situation(state: AgentState, insight: Profile | None = None) -> Situation:
    """An agent's situation. `insight` is of the kernel in force; a draft counts only while it is being repaired."""
    workload, draft = state["workload"], state.get("draft")
    verdict = draft.evaluation if state.get("repair") and draft else None
    kinds = set(classes(workload, state["problem"].source))
    if state["baseline"].roofline_ms < SMALL_MS:
        kinds.add("small")
    if "conv" in kinds and state["settings"].policy is Policy.IEEE:
        kinds.add("exact_conv")  # a convolution is TF32 under the stock policy
    return Situation(
        group=state["spec"].group,
        target=state["device"].target,
        kinds=tuple(sorted(kinds)),
        policy=str(state["settings"].policy),
        dtypes=tuple(sorted({tensor.dtype for tensor in workload.inputs + workload.outputs})),
        bottlenecks=tuple(dict.fromkeys(str(found.kind) for found in insight.bottlenecks)) if insight else (),
        status=str(verdict.status) if verdict else DRAFTING,
        feedback=verdict.feedback if verdict else "",
    )


def classes(workload: Workload, source: str) -> tuple[str, ...]:
    """Kinds of the regions, classes of their operators, and what the sizes make of them."""
    names = {op.removeprefix("aten.").split(".")[0] for region in workload.regions for op in region.ops}
    found = {region.kind for region in workload.regions}
    found |= {kind for kind, pattern in CLASSES.items() if any(re.search(pattern, name) for name in names)}
    found |= {kind for kind, pattern in WORDS.items() if re.search(pattern, source) and "conv" in found}
    if 0 < workload.matmul_flops < THIN * workload.min_bytes:
        found.add("thin_product")
    return tuple(sorted(found))
