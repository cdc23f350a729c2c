"""Finds attention in a graph: ATen's own operator, or softmax(q @ k^T * scale, masked) @ v spelled out."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from egg.tools.expert.neighbours import closed, is_node, operands

if TYPE_CHECKING:
    from torch.fx import Node

    from egg.tools.expert.region import Graph

PRODUCTS = ("aten.matmul", "aten.bmm")
FLOATS = ("float32", "float16", "bfloat16")
LARGEST_HEAD = 128
HIDES = -1e9
"""A fill value that low makes a weight exactly zero, in a row that sees at least one key."""


@dataclass
class Pattern:
    """What was found. Nodes are in no particular order."""

    output: "Node"
    q: "Node"
    k: "Node"
    v: "Node"
    nodes: "list[Node]"
    key_transposed: bool = False
    """k is (..., head, keys)."""
    scales: "list[tuple[str, Node]]" = field(default_factory=list)
    """`*` or `/`, and the node whose scalar argument it is; for ATen's operator ("sdpa", node)."""
    causal: bool = False
    mask: "Node | None" = None
    mode: str = ""
    """What a true element of the mask does: `keep` or `drop` the score; `add`: it is added."""
    safe: bool = False
    """A row that sees no key gives zero, not NaN."""


def find(graph: "Graph", root: "Node") -> Pattern | None:
    """The attention whose result is `root`."""
    op = graph.op(root)
    if op == "aten.scaled_dot_product_attention":
        pattern = _fused(graph, root)
    elif op in PRODUCTS:
        pattern = _spelled_out(graph, root)
    else:
        return None
    return pattern if pattern and _fits(graph, pattern) and closed(graph, pattern.nodes, root) else None


def _fused(graph: "Graph", root: "Node") -> Pattern | None:
    given = graph.arguments(root)
    if given["dropout_p"]:
        return None
    found = Pattern(root, given["query"], given["key"], given["value"], [root], scales=[("sdpa", root)], safe=True)
    found.causal = bool(given["is_causal"])
    if (mask := given["attn_mask"]) is not None:
        found.mask, found.mode = mask, "keep" if graph.dtype(mask) == "bool" else "add"
    return found


def _spelled_out(graph: "Graph", root: "Node") -> Pattern | None:
    node, v = _sides(graph, root)
    nodes = [root]
    if graph.op(node) == "aten.dropout" and not (graph.arguments(node)["p"] and graph.arguments(node)["train"]):
        nodes.append(node)
        node = graph.arguments(node)["input"]
    if graph.op(node) not in ("aten.softmax", "aten._softmax"):
        return None
    given = graph.arguments(node)
    if given["dim"] not in (-1, len(graph.shape(node)) - 1) or given.get("dtype") or given.get("half_to_float"):
        return None
    nodes.append(node)
    found = Pattern(root, v, v, v, nodes)
    node = given["self"]
    if (below := _masked(graph, node, found)) is not None:
        node = below
    while (below := _scaled(graph, node, found)) is not None:
        node = below
    if graph.op(node) not in PRODUCTS:
        return None
    nodes.append(node)
    found.q, found.k = _sides(graph, node)
    found.key_transposed = True
    return found


def _sides(graph: "Graph", product: "Node") -> "tuple[Node, Node]":
    given = graph.arguments(product)
    return given["self"], given["other"] if "other" in given else given["mat2"]


def _scaled(graph: "Graph", node: "Node", found: Pattern) -> "Node | None":
    """The scores below one multiplication or division by a number."""
    sign = {"aten.mul": "*", "aten.div": "/"}.get(graph.op(node))
    if sign is None or len(node.all_input_nodes) != 1:
        return None
    below, number = operands(graph, node)
    if not is_node(below) or is_node(number):
        return None
    found.scales.append((sign, node))
    found.nodes.append(node)
    return below  # type: ignore[no-any-return]


def _masked(graph: "Graph", node: "Node", found: Pattern) -> "Node | None":
    """The scores below the mask, if there is one."""
    given = graph.arguments(node)
    if graph.op(node) == "aten.masked_fill" and not is_node(given["value"]):
        found.nodes.append(node)
        _read_mask(graph, given["mask"], "drop", found)
        if given["value"] == float("-inf") or (found.causal and given["value"] <= HIDES):
            return given["self"]  # type: ignore[no-any-return]
        found.nodes.remove(node)
    if graph.op(node) == "aten.add" and given["alpha"] == 1 and is_node(given["other"]):
        for scores, mask in ((given["self"], given["other"]), (given["other"], given["self"])):
            below = scores
            while graph.op(below) in ("aten.mul", "aten.div"):
                below = graph.arguments(below)["self"]
            if is_node(below) and graph.op(below) in PRODUCTS and is_node(mask):
                found.nodes.append(node)
                found.mask, found.mode = mask, "add"
                return scores  # type: ignore[no-any-return]
    return None


def _read_mask(graph: "Graph", mask: "Node", mode: str, found: Pattern) -> None:
    """Looks through negations for the mask proper, and recognises a lower triangle that is built on the spot."""
    own: list[Any] = []
    node = mask
    while True:
        op = graph.op(node)
        given = graph.arguments(node) if op else {}
        only_here = len(node.users) == 1 and not graph.returned(node)
        if not only_here:
            break
        if op in ("aten.logical_not", "aten.bitwise_not") or (op == "aten.eq" and _is_zero(given["other"])):
            mode = {"drop": "keep", "keep": "drop"}[mode]
        elif not (op == "aten.ne" and _is_zero(given["other"])):
            break
        own.append(node)
        node = given["self"]
    if (triangle := _triangle(graph, node, mode)) is not None:
        found.causal = True
        found.nodes += own + triangle
    else:
        found.mask, found.mode = node, mode
        found.nodes += own


def _is_zero(value: Any) -> bool:
    return not is_node(value) and value == 0


def _triangle(graph: "Graph", node: "Node", mode: str) -> "list[Node] | None":
    """The nodes that build a causal mask out of ones, if that is what this is."""
    wanted = {"keep": ("aten.tril", 0), "drop": ("aten.triu", 1)}[mode]
    chain = []
    while graph.op(node) in ("aten.to", "aten._to_copy", "aten.view", "aten.unsqueeze"):
        chain.append(node)
        node = graph.arguments(node)["self"]
    if not graph.op(node) or (graph.op(node), graph.arguments(node).get("diagonal")) != wanted:
        return None
    ones = graph.arguments(node)["self"]
    if graph.op(ones) == "aten.full" and graph.arguments(ones)["fill_value"] not in (1, True):
        return None
    return [*chain, node, ones] if graph.op(ones) in ("aten.ones", "aten.full") else None


def _fits(graph: "Graph", found: Pattern) -> bool:
    """Shapes and element types that the kernels are written for."""
    q, k, v = (graph.shape(node) for node in (found.q, found.k, found.v))
    if found.key_transposed:
        k = (*k[:-2], k[-1], k[-2]) if len(k) >= 2 else k
    if not (len(q) == len(k) == len(v) and 2 <= len(q) <= 4) or k != v or q[-1] != k[-1] or q[-1] > LARGEST_HEAD:
        return False
    if {graph.dtype(n) for n in (found.q, found.k, found.v)} not in ({name} for name in FLOATS):
        return False
    if found.mask is not None and len(graph.shape(found.mask)) > len(q):
        return False
    heads_shared = len(q) == 4 and q[0] == k[0] and k[1] > 0 and q[1] % k[1] == 0
    return q[:-2] == k[:-2] or (heads_shared and found.safe)
