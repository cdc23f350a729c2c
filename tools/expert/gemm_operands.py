"""ATen's many spellings of a matrix product, as one: batch x (M, K) @ (K, N), plus what is added to it."""

from typing import TYPE_CHECKING, NamedTuple

from egg.tools.expert.gemm_plan import Product

if TYPE_CHECKING:
    from torch.fx import Node

    from egg.tools.expert.region import Graph

FLOATS = {"float32": 4, "float16": 2, "bfloat16": 2}
OPS = ("aten.linear", "aten.mm", "aten.addmm", "aten.bmm", "aten.baddbmm", "aten.matmul", "aten.einsum")


class Operands(NamedTuple):
    """A product, and how the host makes its two operands `lhs` and `rhs`: 2-D, or 3-D where `batched`."""

    a: "Node"
    b: "Node"
    added: "Node | None"
    """Bias, or the matrix that addmm adds: broadcast to the output."""
    product: Product
    batched: bool
    prepare: tuple[str, ...]
    """Statements that make them from the host's parameters, mostly views."""
    shape: str
    """The output's shape, as an expression in the host."""
    rows_kept: bool
    """Whether the output's last dimension is N, so that an epilogue can be computed at a tile."""
    b_along_k: bool
    """Whether K is the contiguous dimension of b, as traced."""
    scale: "Node | None" = None
    """Of an int8 b: the factor of each of its columns, or of all."""


def operands(node: "Node", graph: "Graph") -> Operands | None:
    """What the node multiplies; None where it is no product, or one in a type that is not covered."""
    op = graph.op(node)
    if op not in OPS or graph.dtype(node) not in FLOATS:
        return None
    call, transposed = graph.arguments(node), op == "aten.linear"
    if op == "aten.einsum":
        spelled = einsum_says(str(call["equation"]))
        if spelled is None or len(call["tensors"]) != 2:
            return None
        (a, b), added, transposed = call["tensors"], None, spelled == "transposed"
    elif op == "aten.linear":
        a, b, added = call["input"], call["weight"], call["bias"]
    elif op in ("aten.addmm", "aten.baddbmm"):
        if call["beta"] != 1 or call["alpha"] != 1:
            return None
        first, second = ("mat1", "mat2") if op == "aten.addmm" else ("batch1", "batch2")
        a, b, added = call[first], call[second], call["self"]
    else:
        a, b, added = call["self"], call["other"] if op == "aten.matmul" else call["mat2"], None
    tensors = [a, b] if added is None else [a, b, added]
    if any(graph.dtype(tensor) != graph.dtype(node) for tensor in tensors) or 0 in graph.shape(node):
        return None
    return normal(node, graph, a, b, added, transposed=transposed)


def einsum_says(equation: str) -> str | None:
    """`plain` for an equation that says a @ b, `transposed` for a @ b^T with a matrix b, None for any other."""
    left, arrow, out = equation.replace(" ", "").partition("->")
    a, comma, b = left.partition(",")
    if not (arrow and comma and a.isalpha() and b.isalpha() and len(set(a)) == len(a) and len(b) >= 2):
        return None
    batch = b[:-2]
    for k, n, said in ((b[-2], b[-1], "plain"), (b[-1], b[-2], "transposed")):
        fits = a[-1] == k and n not in a and out == a[:-1] + n
        if fits and (not batch or (said == "plain" and a[:-2] == batch)):
            return said
    return None


def normal(
    node: "Node", graph: "Graph", a: "Node", b: "Node", added: "Node | None", *, transposed: bool
) -> Operands | None:
    """The product of a and b, or of a and b^T where `transposed`; None for shapes that are not covered."""
    x, w = graph.names[a], graph.names[b]
    left, right = graph.shape(a), graph.shape(b)
    if transposed and len(right) != 2:
        return None
    flat = f"lhs = {x}" if len(left) == 2 else f"lhs = {x}.reshape(-1, {x}.shape[-1])"
    batched = len(right) > 2
    n = right[0] if transposed else right[-1]
    kept = len(left) >= 2 and len(right) >= 2
    if len(left) == 1 and len(right) == 1:
        return None
    if batched and len(left) == 1:
        return None
    prepare: tuple[str, ...]
    if len(left) == 1:
        prepare, shape = (f"lhs = {x}[None, :]", f"rhs = {w}.t()" if transposed else f"rhs = {w}"), "(rhs.shape[1],)"
    elif len(right) == 1:
        prepare, shape, n = (flat, f"rhs = {w}[:, None]"), f"{x}.shape[:-1]", 1
    elif not batched:
        prepare, shape = (flat, f"rhs = {w}.t()" if transposed else f"rhs = {w}"), f"(*{x}.shape[:-1], rhs.shape[1])"
    elif left[:-2] == right[:-2]:
        prepare = (_stacked("lhs", x, len(left)), _stacked("rhs", w, len(right)))
        shape = f"(*{x}.shape[:-1], rhs.shape[-1])"
    else:
        prepare = (
            f"batch = torch.broadcast_shapes({x}.shape[:-2], {w}.shape[:-2])",
            f"lhs = {x}.expand(*batch, -1, -1).flatten(0, -3)",
            f"rhs = {w}.expand(*batch, -1, -1).flatten(0, -3)",
        )
        shape = "(*batch, lhs.shape[-2], rhs.shape[-1])"
    size = 1
    for length in graph.shape(node):
        size *= length
    m = left[-2] if batched else size // n
    product = Product(size // (m * n), m, n, left[-1], FLOATS[graph.dtype(node)])
    along_k = _unit(b, -1 if transposed or len(right) == 1 else -2)
    return Operands(a, b, added, product, batched, prepare, shape, kept, along_k)


def _stacked(variable: str, name: str, dims: int) -> str:
    return f"{variable} = {name}" if dims == 3 else f"{variable} = {name}.flatten(0, -3)"


def _unit(node: "Node", dim: int) -> bool:
    return bool(node.meta["val"].stride()[dim] == 1)
