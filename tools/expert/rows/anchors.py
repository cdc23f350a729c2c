"""The ATen operators that reduce rows, read into one form."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch.fx import Node

    from egg.tools.expert.region import Graph

FLOATS = ("float16", "bfloat16", "float32", "float64")
EPSILON = {"float32": 1.1920928955078125e-07, "float64": 2.220446049250313e-16}

REDUCTIONS = {
    "aten.sum": "sum",
    "aten.mean": "mean",
    "aten.amax": "max",
    "aten.amin": "min",
    "aten.max": "max",
    "aten.min": "min",
    "aten.argmax": "argmax",
    "aten.argmin": "argmin",
    "aten.var": "var",
    "aten.std": "std",
    "aten.var_mean": "var_mean",
    "aten.std_mean": "std_mean",
    "aten.logsumexp": "logsumexp",
    "aten.linalg_vector_norm": "norm",
    "aten.norm": "norm",
}
"""One value for each row."""

MAPS = {
    "aten.softmax": "softmax",
    "aten._softmax": "softmax",
    "aten.log_softmax": "log_softmax",
    "aten._log_softmax": "log_softmax",
    "aten.layer_norm": "layer_norm",
    "aten.native_layer_norm": "layer_norm",
    "aten.rms_norm": "rms_norm",
    "aten.group_norm": "group_norm",
    "aten.instance_norm": "instance_norm",
}
"""One value for each element."""

GROUPED = ("group_norm", "instance_norm")
"""A row is a sample's group of channels; an instance's group is one channel."""


@dataclass(frozen=True)
class Anchor:
    """One reduction: what it computes, of which node, over which dimensions of it."""

    node: "Node"
    kind: str
    source: "Node"
    dims: tuple[int, ...]
    """Reduced dimensions of the source, ascending. For a norm of groups those after the channels."""
    keepdim: bool
    outputs: "tuple[Node, ...]"
    """The node itself, or for several results the `getitem` of each that is used."""
    indices: tuple[int, ...]
    """Which result each output is."""

    @property
    def maps(self) -> bool:
        return self.kind in MAPS.values()


def read_anchor(node: "Node", graph: "Graph") -> Anchor | None:
    """The reduction at this node, or None if it is none that can be written."""
    op = graph.op(node)
    kind = REDUCTIONS.get(op) or MAPS.get(op)
    if kind is None:
        return None
    arguments = graph.arguments(node)
    source: Any = arguments.get("self", arguments.get("input"))
    if not hasattr(source, "op") or graph.dtype(source) not in FLOATS:
        return None
    rank = len(graph.shape(source))
    dims = _dims(kind, arguments, rank)
    if not rank or not dims or not _plain(kind, op, arguments, graph, source):
        return None
    if op in ("aten.max", "aten.min") and "dim" not in arguments and "other" in arguments:
        return None
    several = isinstance(node.meta.get("val"), tuple | list)
    users = tuple(user for user in node.users if graph.op(user) == "getitem") if several else ()
    if several and (len(users) != len(node.users) or not users):
        return None
    outputs = users or (node,)
    indices = tuple(int(str(user.args[1])) for user in users) or (0,)
    if op == "aten.native_layer_norm" and set(indices) != {0}:
        return None
    if op in ("aten.max", "aten.min") and 1 in indices:
        kind = f"arg{kind}"
    if any(graph.dtype(out) not in (*FLOATS, "int64") for out in outputs):
        return None
    return Anchor(node, kind, source, dims, bool(arguments.get("keepdim", False)), outputs, indices)


def _dims(kind: str, arguments: dict[str, Any], rank: int) -> tuple[int, ...]:
    if kind in ("layer_norm", "rms_norm"):
        return tuple(range(rank - len(arguments["normalized_shape"]), rank))
    if kind in GROUPED:
        return tuple(range(2, rank))
    dims = arguments.get("dim")
    if dims is None or (isinstance(dims, list | tuple) and not dims):
        return tuple(range(rank))
    return tuple(sorted(int(d) % rank for d in (dims if isinstance(dims, list | tuple) else [dims])))


def _plain(kind: str, op: str, arguments: dict[str, Any], graph: "Graph", source: "Node") -> bool:
    """Whether the operator's further arguments are among those that the statements cover."""
    if kind == "norm":
        order = arguments.get("ord", arguments.get("p"))
        return order in (None, 1, 2, float("inf")) and arguments.get("dtype") is None
    if kind == "rms_norm":
        return arguments.get("eps") is not None or graph.dtype(source) in EPSILON
    if kind in GROUPED:
        own = arguments.get("running_mean") is None and arguments.get("use_input_stats", True)
        return own and len(graph.shape(source)) >= 2
    if kind in ("var", "std", "var_mean", "std_mean") and "unbiased" in arguments:
        return isinstance(arguments["unbiased"], bool)
    return True
