"""Rewrites that compute the same function with less work, whatever the data. So far one:

    reduce(x W^T + b, over the output features) = x . reduce(W, over them) + reduce(b),    reduce = mean or sum

by linearity of the sum. W and b are reduced anew in every forward, so the kernel follows the live weights.
"""

from typing import Any

import torch
from torch.fx import Graph, Node

from egg.tools.expert.cleanup import base_name

COLLAPSE = "algebraic_collapse"
aten = torch.ops.aten


def collapsible(graph: Graph) -> list[Node]:
    """Reductions that the rule applies to."""
    return [node for node in graph.nodes if node.op == "call_function" and _applies(node)]


def collapse(graph: Graph) -> None:
    """Apply the rule wherever it holds; in place."""
    for node in collapsible(graph):
        _rewrite(graph, node)


def _applies(node: Node) -> bool:
    if node.target not in (aten.mean.dim, aten.sum.dim_IntList) or node.kwargs:
        return False
    product = node.args[0]
    if not isinstance(product, Node) or len(product.users) != 1 or base_name(product) not in ("linear", "matmul", "mm"):
        return False
    rank = product.meta["val"].dim()
    dims = [int(dim) % rank for dim in node.args[1]] if isinstance(node.args[1], list | tuple) else []  # type: ignore[arg-type]
    weight: Any = product.args[1]
    operand: Any = product.args[0]
    floats = all(n.meta["val"].dtype == torch.float32 for n in product.all_input_nodes)
    matrices = weight.meta["val"].dim() == 2 and operand.meta["val"].dim() >= 2
    return rank >= 2 and dims == [rank - 1] and matrices and floats


def _rewrite(graph: Graph, node: Node) -> None:
    product: Any = node.args[0]
    keepdim = bool(node.args[2]) if len(node.args) > 2 else False
    reduce: Any = node.target
    x, weight, bias = product.args[0], product.args[1], product.args[2] if len(product.args) > 2 else None
    with graph.inserting_before(node):
        if base_name(product) == "linear":
            row = _call(graph, reduce, weight, [0], True)
        else:
            row = _call(graph, reduce, weight, [1])
        scaled = _call(graph, aten.mul.Tensor, x, row)
        result = _call(graph, aten.sum.dim_IntList, scaled, [-1], keepdim)
        if bias is not None:
            offset = _call(graph, reduce, bias, [0], keepdim)
            result = _call(graph, aten.add.Tensor, result, offset)
    node.replace_all_uses_with(result)
    graph.erase_node(node)
    graph.erase_node(product)


def _call(graph: Graph, target: Any, *args: Any) -> Node:
    """A new call with the fake tensor it returns."""
    values = [argument.meta["val"] if isinstance(argument, Node) else argument for argument in args]
    fake = next(value.fake_mode for value in values if hasattr(value, "fake_mode"))
    node = graph.call_function(target, tuple(args))
    with fake:
        node.meta["val"] = target(*values)
    return node
