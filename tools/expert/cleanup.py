"""Makes a traced graph easier to read: no asserts, no aliases, no in-place operators where they were only a habit."""

from typing import Any

import torch
from torch.fx import Graph, Node

ALIASES = ("detach", "detach_", "alias", "lift_fresh_copy", "lift_fresh")
DROPOUTS = ("dropout", "dropout_", "feature_dropout", "alpha_dropout")
RANDOM = (*DROPOUTS, "rand", "randn", "randint", "rand_like", "randn_like", "bernoulli", "rrelu")
FOLDABLE = ("add", "sub", "mul", "div", "pow", "where", "masked_fill", "eq", "ne", "lt", "le", "gt", "ge", *ALIASES)
NO_OPERATION = ("_assert_tensor_metadata", "_assert_async", "sym_constrain_range_for_size")


def clean(graph: Graph) -> None:
    """Rewrite in place; what the module computes stays the same."""
    for node in list(graph.nodes):
        if node.op != "call_function":
            continue
        name = base_name(node)
        if name in NO_OPERATION:
            graph.erase_node(node)
        elif name in ALIASES or _does_nothing(node, name):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
        elif mutates(node):
            _functional(graph, node, name)
    for node in reversed(list(graph.nodes)):
        if node.op == "call_function" and not node.users and not mutates(node) and base_name(node) not in RANDOM:
            graph.erase_node(node)


def fold_numbers(constants: dict[Node, torch.Tensor]) -> None:
    """Put tensors of one element, made from a Python number, back as that number where an operator takes either."""
    for node, tensor in constants.items():
        _fold(node, tensor.item() if tensor.dim() == 0 else None)


def _fold(node: Node, number: float | None) -> None:
    if number is None:
        return
    for user in list(node.users):
        name = base_name(user)
        if name in ALIASES:
            _fold(user, number)
        elif name in FOLDABLE and len(user.all_input_nodes) > 1 and user.args[0] is not node:
            user.args = tuple(number if argument is node else argument for argument in user.args)


def base_name(node: Node) -> str:
    """`add_` of `aten.add_.Tensor`."""
    packet: Any = getattr(node.target, "overloadpacket", None)
    return str(packet).rpartition(".")[2] if packet is not None else getattr(node.target, "__name__", "")


def mutates(node: Node) -> bool:
    """Whether it writes to one of its arguments."""
    schema: Any = getattr(node.target, "_schema", None)
    return bool(schema is not None and schema.is_mutable)


def storage(node: Node) -> int | None:
    """Identity of the memory behind a node's tensor."""
    value = node.meta.get("val")
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None


def _does_nothing(node: Node, name: str) -> bool:
    source = node.args[0] if node.args else None
    if not isinstance(source, Node) or not isinstance(source.meta.get("val"), torch.Tensor):
        return False
    if name in DROPOUTS:
        return float(node.args[1]) == 0.0 or not node.args[2]  # type: ignore[arg-type]
    value, before = node.meta.get("val"), source.meta["val"]
    if not isinstance(value, torch.Tensor):
        return False
    if name in ("to", "type_as", "contiguous", "expand", "expand_as", "view", "reshape"):
        return (value.dtype, value.shape, value.stride()) == (before.dtype, before.shape, before.stride())
    return False


def _functional(graph: Graph, node: Node, name: str) -> None:
    """Replace `relu_(x)` by `relu(x)` where nobody could tell: no later reader of x's memory but through `x` itself."""
    base = node.args[0] if node.args else None
    packet = getattr(torch.ops.aten, name.removesuffix("_"), None) if name.endswith("_") else None
    overload = getattr(packet, getattr(node.target, "_overloadname", ""), None)
    if overload is None or not isinstance(base, Node) or base.op == "placeholder" or name == "copy_":
        return
    order = {other: i for i, other in enumerate(graph.nodes)}
    shared = [other for other in graph.nodes if other is not node and storage(other) == storage(node)]
    if any(other.op == "placeholder" for other in shared):
        return
    for other in shared:
        if other is not base and any(order[user] > order[node] for user in other.users):
            return
    with graph.inserting_before(node):
        fresh = graph.call_function(overload, node.args, node.kwargs)
    fresh.meta = dict(node.meta)
    later = {user for user in base.users if order.get(user, -1) > order[node]}
    node.replace_all_uses_with(fresh)
    base.replace_all_uses_with(fresh, delete_user_cb=lambda user: user in later)
    graph.erase_node(node)
