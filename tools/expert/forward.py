"""The body of `ModelNew.forward`: one statement for each region and each call that stays PyTorch."""

from typing import Any

import torch
from torch.fx import Node
from torch.utils import _pytree as pytree

from egg.tools.expert.capture import Capture
from egg.tools.expert.cleanup import base_name, mutates
from egg.tools.expert.partition import Partition
from egg.tools.expert.printer import Printer, Unprintable
from egg.tools.expert.region import Region
from egg.tools.expert.unify import Source, express

VIEWS = {
    "view", "reshape", "_unsafe_view", "transpose", "permute", "t", "unsqueeze", "squeeze", "expand", "expand_as",
    "slice", "select", "flatten", "unflatten", "chunk", "split", "split_with_sizes", "unbind", "getitem", "narrow",
    "contiguous", "movedim", "swapaxes", "view_as", "unfold", "adjoint", "mT", "detach", "numpy_T", "tensor_split",
}  # fmt: skip
"""Calls that compute nothing, and at most bring a tensor into order: not worth a mention."""

CONSTANT_ELEMENTS = 64


class Forward:
    """Writes the statements; `lines` and `returned` are the result, `torch_calls` what stays PyTorch."""

    def __init__(self, captured: Capture, cut: Partition, kept: tuple[Region, ...]) -> None:
        self.captured, self.graph = captured, cut.graph
        self.sources = [source for node in captured.full.inputs for source in self._dimensions(node)]
        self.sources += captured.attributes
        self.device = self._device()
        self.lines: list[str] = []
        self.torch_calls: list[Node] = []
        self.unpacked: set[Node] = set()
        for node, tensor in captured.full.constants.items():
            if node.users:
                self._constant(node, tensor)
        self.owner = {node: region for region in kept for node in region.nodes}
        units = cut.order.units([region.nodes for region in kept])
        assert units is not None
        for unit in units:
            region = self.owner.get(unit[0])
            if region is None:
                self._call(unit[0])
            else:
                self._region(region)
        self.returned = self._results()

    def name(self, node: Node) -> str:
        return self.captured.expressions.get(node) or self.graph.names[node]

    def _region(self, region: Region) -> None:
        numbers = [self._number(region, full, small) for full, small in region.numbers.values()]
        arguments = ", ".join([*(self.name(node) for node in region.input_nodes), *numbers])
        results = ", ".join(self.name(node) for node in region.output_nodes)
        self.lines.append(f"{results} = {region.name}({arguments})")
        self._learn(*region.output_nodes)

    def _number(self, region: Region, full: float, small: float) -> str:
        text = express(full, small, self.sources, self.captured.constants)
        if text is None:
            raise Unprintable(f"{region.name}: {full} at full size and {small} at small size have no common expression")
        return text

    def _call(self, node: Node) -> None:
        if node in self.unpacked:
            return
        text = Printer(self.graph, self.name, self.sources, self.captured.constants, self.device).call(node)
        computes = worth_mention(node)
        if computes:
            self.torch_calls.append(node)
        comment = "  # stays PyTorch" if computes else ""
        if parts := self._parts(node):
            self.lines.append(f"{', '.join(self.name(part) if part else '_' for part in parts)} = {text}{comment}")
            self.unpacked |= {part for part in parts if part}
            self._learn(*(part for part in parts if part))
        elif mutates(node) and not node.users and not self.graph.returned(node):
            self.lines.append(text + comment)
        else:
            self.lines.append(f"{self.name(node)} = {text}{comment}")
            self._learn(node)

    def _parts(self, node: Node) -> list[Node | None]:
        """The results of a call with several, where each is taken out by its place; else none."""
        value: Any = node.meta.get("val")
        users = list(node.users)
        if not isinstance(value, list | tuple) or any(base_name(u) != "getitem" or u in self.owner for u in users):
            return []
        by_place: dict[Any, Node] = {user.args[1]: user for user in users}
        return [by_place.get(i) for i in range(len(value))] if len(by_place) == len(users) else []

    def _constant(self, node: Node, tensor: torch.Tensor) -> None:
        if tensor.numel() > CONSTANT_ELEMENTS:
            raise Unprintable(f"{node.name}: a constant of {tensor.numel()} elements made in forward")
        values = tensor.tolist()
        self.lines.append(f"{self.name(node)} = torch.tensor({values}, dtype={tensor.dtype}, device={self.device})")

    def _learn(self, *nodes: Node) -> None:
        for node in nodes:
            self.sources += self._dimensions(node)

    def _dimensions(self, node: Node) -> list[Source]:
        if not isinstance(node.meta.get("val"), torch.Tensor):
            return []
        pairs = zip(self.graph.shape(node), self.graph.shape(self.graph.twin[node]), strict=True)
        return [Source(f"{self.name(node)}.shape[{i}]", full, small) for i, (full, small) in enumerate(pairs)]

    def _device(self) -> str:
        tensors = [*self.captured.full.inputs, *self.captured.full.origins]
        first = next((node for node in tensors if isinstance(node.meta.get("val"), torch.Tensor)), None)
        return f"{self.name(first)}.device" if first is not None else '"cpu"'

    def _results(self) -> str:
        texts = [self.name(r) if isinstance(r, Node) else repr(r) for r in self.captured.full.results]
        nested = pytree.tree_unflatten([_Text(text) for text in texts], self.captured.full.out_spec)
        return _nested(nested)


def worth_mention(node: Node) -> bool:
    """Whether a call computes something: neither a view nor a counter, as BatchNorm has one."""
    counter = mutates(node) and not node.users and node.meta["val"].dim() == 0
    return base_name(node) not in VIEWS and not counter


class _Text(str):
    """An expression; a type of its own, so that dict keys are not taken for one."""


def _nested(value: Any) -> str:
    """The module's result, put together again."""
    if isinstance(value, _Text):
        return str(value)
    if value is None:
        return "None"
    if type(value) is tuple:
        return f"({', '.join(_nested(v) for v in value)}{',' if len(value) == 1 else ''})"
    if type(value) is list:
        return f"[{', '.join(_nested(v) for v in value)}]"
    if type(value) is dict:
        return "{" + ", ".join(f"{key!r}: {_nested(v)}" for key, v in value.items()) + "}"
    raise Unprintable(f"it returns a {type(value).__name__}")
