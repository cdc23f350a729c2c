"""The kind `int8`: products with a weight that is stored as int8 and scaled back, as spelled out in PyTorch.

`F.linear(x, w.to(x.dtype) * scale[:, None])`, `x @ (w.to(x.dtype) * scale).t()`, `(x @ w.t().to(x.dtype)) * scale`: the
weight is read as int8, widened in registers, and the scale is applied to the finished sums, in fp32. On Hopper the
product is turned over, so that wgmma takes the widened weight from where it is.
"""

from typing import TYPE_CHECKING, NamedTuple

from egg.tools.expert.gemm import Gemm
from egg.tools.expert.gemm_operands import FLOATS, Operands, normal
from egg.tools.expert.region import Graph

if TYPE_CHECKING:
    from torch.fx import Node

TRANSPOSES = ("aten.t", "aten.transpose", "aten.permute", "aten.numpy_T", "aten.mT")
CASTS = ("aten.to", "aten._to_copy", "aten.type_as")
PRODUCTS = {
    "aten.linear": ("input", "weight", "bias"),
    "aten.mm": ("self", "mat2", None),
    "aten.matmul": ("self", "other", None),
    "aten.addmm": ("mat1", "mat2", "self"),
}
"""Names of the left operand, the right one, and what is added."""


class Weight(NamedTuple):
    """An int8 matrix, and the nodes between it and the product."""

    node: "Node"
    transposed: bool
    scale: "Node | None"
    between: "tuple[Node, ...]"


class Int8(Gemm):
    """As `gemm`, but for where its right operand comes from."""

    name = "int8"

    def find(self, node: "Node", graph: Graph) -> tuple[Operands, tuple["Node", ...]] | None:
        op = graph.op(node)
        if op not in PRODUCTS or graph.dtype(node) not in FLOATS:
            return None
        call = graph.arguments(node)
        if call.get("beta", 1) != 1 or call.get("alpha", 1) != 1:
            return None
        left, right, added = PRODUCTS[op]
        weight = _weight(call[right], graph, transposed=op == "aten.linear")
        if weight is None or graph.dtype(call[left]) != graph.dtype(node):
            return None
        bias = call[added] if added else None
        found = normal(node, graph, call[left], weight.node, bias, transposed=weight.transposed)
        if found is None or not found.rows_kept:
            return None
        return found._replace(scale=weight.scale), (*weight.between, node)


def _weight(node: "Node", graph: Graph, *, transposed: bool) -> Weight | None:
    """Walk up from the product's right operand over transposes, one scale and the cast, to an int8 matrix."""
    scale: Node | None = None
    between: list[Node] = []
    while graph.op(node):
        op, call = graph.op(node), graph.arguments(node)
        shape = graph.shape(node)
        if len(shape) != 2:
            return None
        if op in TRANSPOSES:
            below = call["self"]
            if shape[::-1] != graph.shape(below) or _same_strides(node, below):
                return None
            transposed = not transposed
        elif op == "aten.mul" and scale is None:
            below, scale = _scaled(call["self"], call["other"], graph, columns=0 if transposed else 1)
        elif op in CASTS:
            below = call["self"]
        else:
            return None
        if below is None:
            return None
        between.append(node)
        if op in CASTS and graph.dtype(below) == "int8":
            return Weight(below, transposed, scale, tuple(reversed(between)))
        node = below
    return None


def _scaled(one: "Node", other: "Node", graph: Graph, *, columns: int) -> "tuple[Node | None, Node | None]":
    """The matrix and its scale, where one of the operands is constant along K."""
    if not hasattr(one, "op") or not hasattr(other, "op"):
        return None, None
    for matrix, scale in ((one, other), (other, one)):
        shape = graph.shape(scale)
        whole = (1,) * (2 - len(shape)) + shape
        along_k, along_n = whole[1 - columns], whole[columns]
        if along_k == 1 and along_n in (1, graph.shape(matrix)[columns]) and len(graph.shape(matrix)) == 2:
            return matrix, scale
    return None, None


def _same_strides(node: "Node", below: "Node") -> bool:
    """A permutation that permutes nothing (a square matrix hides it from the shapes)."""
    return bool(node.meta["val"].stride() == below.meta["val"].stride() and node.meta["val"].shape[0] > 1)


KINDS = (Int8(),)
