"""Child task: the workload of a problem."""

from typing import Any

import torch
from torch.fx import Node
from torch.utils._pytree import tree_leaves

from egg.state.problem import Region, TensorSpec, Workload
from egg.tools.expert.capture import Capture, capture
from egg.tools.expert.cleanup import base_name
from egg.tools.expert.cost import count
from egg.tools.expert.forward import worth_mention
from egg.tools.expert.kinds import kinds
from egg.tools.expert.partition import partition
from egg.tools.expert.spec import TORCH
from egg.tools.expert.trace import Inexpressible
from egg.tools.expert.write import structures
from egg.tools.tasks import warm_export  # noqa: F401
from egg.tools.tasks.degenerate import signs, untraced

LOOKUPS = {"embedding", "index", "index_select", "gather", "slice", "select", "narrow"}
SHAPES = {"zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like"}


def run(payload: dict[str, Any]) -> dict[str, Any]:
    """A `Workload` as JSON, of `source` (and `small_source`, or null)."""
    source, small = payload["source"], payload["small_source"]
    try:
        captured = capture(source, small)
    except Inexpressible as reason:
        return untraced(source, small, str(reason)).model_dump(mode="json")
    return _workload(captured, signs(source, small or "")).model_dump(mode="json")


def _workload(captured: Capture, degenerate: tuple[str, ...]) -> Workload:
    full = captured.full
    flops, matrix = count(full)
    inputs = [node.meta["val"] for node in full.inputs if isinstance(node.meta.get("val"), torch.Tensor)]
    outputs = [r.meta["val"] for r in full.results if isinstance(r, Node)]
    read = sum(_read(node) for node in (*full.inputs, *full.origins))
    state = [*full.module.parameters(), *full.module.buffers()]
    return Workload(
        inputs=tuple(_tensor(value) for value in inputs),
        outputs=tuple(_tensor(value) for value in outputs),
        parameters=sum(tensor.numel() for tensor in state),
        flops=flops,
        matmul_flops=matrix,
        min_bytes=read + sum(_bytes(value) for value in outputs),
        regions=_regions(captured),
        structures=structures(captured),
        degenerate=degenerate,
    )


def _regions(captured: Capture) -> tuple[Region, ...]:
    """Triton's regions first, then what stays PyTorch."""
    cut = partition(captured.graph, kinds(), "fused")
    found = [
        Region(name=region.name, kind=region.kind, ops=tuple(base_name(node) for node in region.nodes))
        for region in cut.regions
    ]
    rest = [n for n in captured.graph.nodes if n not in cut.owner and worth_mention(n)]
    for i, node in enumerate(rest):
        name = base_name(node)
        found.append(Region(name=f"t{i}_{name}", kind=TORCH, ops=(name,), note="no kind for it"))
    return tuple(found)


def _read(node: Node) -> int:
    """Bytes of an input or parameter that must be read: of a table that is only looked up in, what is taken out."""
    if not node.users or all(base_name(user) in SHAPES for user in node.users):
        return 0
    whole = _bytes(node.meta["val"])
    if any(base_name(user) not in LOOKUPS for user in node.users):
        return whole
    return min(whole, sum(_bytes(user.meta["val"]) for user in node.users))


def _tensor(value: torch.Tensor) -> TensorSpec:
    return TensorSpec(shape=tuple(value.shape), dtype=str(value.dtype).removeprefix("torch."))


def _bytes(value: Any) -> int:
    return sum(t.numel() * t.element_size() for t in tree_leaves(value) if isinstance(t, torch.Tensor))
