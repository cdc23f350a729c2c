"""Run in a child: floating-point operations of every call of a trace, counted on fake tensors."""

from typing import Any

import torch
from torch.fx import Interpreter, Node
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from egg.tools.expert.cleanup import base_name
from egg.tools.expert.forward import VIEWS
from egg.tools.expert.trace import Trace

STEPS = {
    "softmax": 5, "log_softmax": 5, "_softmax": 5, "layer_norm": 8, "group_norm": 8, "batch_norm": 8,
    "instance_norm": 8, "rms_norm": 5, "cross_entropy_loss": 5, "gelu": 8, "silu": 4, "sigmoid": 4,
    "tanh": 5, "mish": 8, "softplus": 5,
}  # fmt: skip
"""Operations for each element of what PyTorch has as one call; by convention, for the roofline's sake."""


def count(found: Trace) -> tuple[int, int]:
    """(all, the part that matrix units can do). Multiply and add count apart."""
    counter = _Counter(found.graph_module)
    values = [node.meta["val"] for node in found.graph_module.graph.nodes if node.op == "placeholder"]
    mode = next((v.fake_mode for v in values if hasattr(v, "fake_mode")), None)
    with torch.no_grad():
        if mode is None:
            counter.run(*values)
        else:
            with mode:
                counter.run(*values)
    return counter.matrix + counter.other, counter.matrix


class _Counter(Interpreter):
    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__(module)
        self.matrix = self.other = 0

    def run_node(self, n: Node) -> Any:
        if n.op != "call_function":
            return super().run_node(n)
        with FlopCounterMode(display=False) as flops:
            result = super().run_node(n)
        matrix = flops.get_total_flops() or _attention(n)
        self.matrix += matrix
        if not matrix and base_name(n) not in VIEWS:
            operands = [v for v in (result, *(a.meta.get("val") for a in n.all_input_nodes)) if v is not None]
            largest = max(
                (t.numel() for v in operands for t in tree_leaves(v) if isinstance(t, torch.Tensor)), default=0
            )
            self.other += largest * STEPS.get(base_name(n), 1)
        return result


def _attention(node: Node) -> int:
    """Both products of an attention, which PyTorch's counter does not know on the CPU; half where it is causal."""
    if base_name(node) != "scaled_dot_product_attention":
        return 0
    query, key, value = (operand.meta["val"].shape for operand in node.args[:3])  # type: ignore[union-attr]
    products = 2 * query.numel() * key[-2] + 2 * (query.numel() // query[-1]) * key[-2] * value[-1]
    causal = node.kwargs.get("is_causal") or (len(node.args) > 5 and node.args[5])
    return int(products // 2 if causal else products)
