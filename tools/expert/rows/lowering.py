"""From a region of the graph to a row program and its host function."""

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

from egg.tools.expert.chain import lines
from egg.tools.expert.operators import REGISTER
from egg.tools.expert.region import Region
from egg.tools.expert.rows.anchors import EPSILON, Anchor, read_anchor
from egg.tools.expert.rows.host import Host, Tensor
from egg.tools.expert.rows.operations import Names, lower
from egg.tools.expert.rows.program import Axis, Operand, Point, Program, Result, Step
from egg.tools.expert.rows.space import RESHAPES, Space, survey
from egg.tools.expert.unify import literal

if TYPE_CHECKING:
    from torch.fx import Node

TAKEN = {
    *("row", "col", "lane", "outer", "tile", "inside", "start", "first", "last", "part", "split", "span", "splits"),
    *("rows", "cols", "lanes", "outers", "term", "raised", "taken", "value", "change", "best", "better", "tl"),
    *("sum", "mean", "apart", "squares", "scale", "top", "total", "power", "log_total", "place"),
}
"""Names that the kernels use themselves."""

FEW_RESULTS = 256


@dataclass
class Lowering:
    """One region, read once; `program` and `host` are what the structures write from."""

    region: Region
    merged: bool
    """Whether to use statistics that need one reading only."""
    space: Space = field(init=False)
    names: "dict[Node, str]" = field(init=False, default_factory=dict)
    values: "dict[Node, str]" = field(init=False, default_factory=dict)
    scalars: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        space = survey(self.region.graph, self.region.nodes)
        if space is None:
            raise ValueError(f"{self.region.name}: its tensors do not share rows")
        self.space = space
        self.anchors = {n: a for n in self.region.nodes if (a := read_anchor(n, self.region.graph))}
        self.groups = self._groups()
        for node in self.region.input_nodes:
            self.values[node] = self._variable(node)
        self.steps = tuple(self._steps())

    @property
    def program(self) -> Program:
        graph, region = self.region.graph, self.region
        used = {name for step in self.steps for name in step.needs} | {self.values[n] for n in region.output_nodes}
        source = graph.dtype(next(iter(self.anchors.values())).source)
        return Program(
            name=region.name,
            axes=tuple(Axis(self._size(group), group[0] in self.space.reduced) for group in self.groups),
            operands=tuple(
                Operand(self.values[n], self._axes(n), graph.dtype(n), REGISTER[graph.dtype(n)])
                for n in region.input_nodes
                if self.values[n] in used
            ),
            steps=self.steps,
            results=tuple(
                Result(self._result(i), self.values[n], self._axes(n)) for i, n in enumerate(region.output_nodes)
            ),
            compensated=source == "float32",
            precise=source == "float32" and self._results() <= FEW_RESULTS,
            accumulator=f"tl.{REGISTER[source]}",
            scalars=tuple(self.scalars),
        )

    def host(self, title: str) -> Host:
        region = self.region
        tensors = region.inputs
        return Host(
            name=region.name,
            parameters=region.parameters,
            device=f"{tensors[0].name}.device",
            inputs=tuple(
                Tensor(self.values[node], value.name) for node, value in zip(region.input_nodes, tensors, strict=True)
            ),
            results=tuple(
                Tensor(self._result(i), self._shape(node), f"torch.{region.graph.dtype(node)}")
                for i, node in enumerate(region.output_nodes)
            ),
            prepare=tuple(f"{value.name} = {value.name}.contiguous()" for value in tensors if value.shape),
            scalars=tuple(self.scalars.items()),
            title=title,
        )

    def _steps(self) -> list[Step]:
        graph, values = self.region.graph, self.values
        steps: list[Step] = []
        outputs = {output for anchor in self.anchors.values() for output in anchor.outputs}
        for node in self.region.nodes:
            if anchor := self.anchors.get(node):
                values |= {output: self._variable(output) for output in anchor.outputs}
                steps += lower(anchor, self._anchor_names(anchor), self.merged)
            elif graph.op(node) in RESHAPES:
                values[node] = values[node.all_input_nodes[0]]
            elif node not in outputs:
                text = lines(self.region, (node,), values, lambda value: value.name, self.scalars)
                if text:
                    needs = tuple(dict.fromkeys(values[each] for each in node.all_input_nodes))
                    steps.append(Point(values[node], needs, tuple(text)))
        return steps

    def _anchor_names(self, anchor: Anchor) -> Names:
        graph, region = self.region.graph, self.region
        arguments: dict[str, Any] = graph.arguments(anchor.node)
        affine = {name: arguments.get(name) for name in ("weight", "bias")}
        epsilon = literal(EPSILON.get(graph.dtype(anchor.source), 0.0))
        if arguments.get("eps") is not None:
            epsilon = region.argument(anchor.node, "eps")
        correction = "0"
        if anchor.kind in ("var", "std", "var_mean", "std_mean"):
            given = arguments.get("correction", arguments.get("unbiased", 1))
            correction = str(1 if given is None else int(given))
        order = arguments.get("ord", arguments.get("p"))
        return Names(
            source=self.values[anchor.source],
            results={i: self.values[out] for i, out in zip(anchor.indices, anchor.outputs, strict=True)},
            prefix="" if len(self.anchors) == 1 else graph.names[anchor.node],
            register=REGISTER[graph.dtype(anchor.source)],
            weight=self.values[affine["weight"]] if affine["weight"] is not None else None,
            bias=self.values[affine["bias"]] if affine["bias"] is not None else None,
            epsilon=epsilon,
            correction=correction,
            order=2.0 if order is None else float(order),
        )

    def _groups(self) -> list[list[int]]:
        """Neighbouring axes that every tensor has together, or lacks together, as one."""
        tensors = (*self.region.input_nodes, *self.region.output_nodes)
        spans = [{axis for part in self.space.places[node] for axis in part} for node in tensors]
        groups: list[list[int]] = []
        for axis, size in enumerate(self.space.sizes):
            if size == (1, 1):
                continue
            alike = groups and all((axis in span) == (groups[-1][-1] in span) for span in spans)
            if alike and (axis in self.space.reduced) == (groups[-1][-1] in self.space.reduced):
                groups[-1].append(axis)
            else:
                groups.append([axis])
        return groups

    def _axes(self, node: "Node") -> tuple[int, ...]:
        span = {axis for part in self.space.places[node] for axis in part}
        return tuple(i for i, group in enumerate(self.groups) if group[0] in span)

    def _size(self, group: list[int]) -> str:
        factors = [self._axis_size(axis) for axis in group]
        return " * ".join(f"({text})" if len(factors) > 1 and " " in text else text for text in factors)

    def _axis_size(self, axis: int) -> str:
        for node, value in zip(self.region.input_nodes, self.region.inputs, strict=True):
            for dim, part in enumerate(self.space.places[node]):
                if part == (axis,):
                    return f"{value.name}.shape[{dim}]"
        return self.region.number(*self.space.sizes[axis])

    def _shape(self, node: "Node") -> str:
        place = self.space.places[node]
        for other, value in zip(self.region.input_nodes, self.region.inputs, strict=True):
            if self.space.places[other] == place and value.shape == self.region.graph.shape(node):
                return f"{value.name}.shape"
        shape = self.region.graph.shape(node)
        sizes = [self._size(list(part)) if part else str(size) for part, size in zip(place, shape, strict=True)]
        return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"

    def _results(self) -> int:
        """Rows, at full size."""
        return prod(size for axis, (size, _) in enumerate(self.space.sizes) if axis not in self.space.reduced)

    def _variable(self, node: "Node") -> str:
        name = self.region.graph.names[node]
        return f"{name}_value" if name in TAKEN else name

    def _result(self, index: int) -> str:
        several = len(self.region.output_nodes) > 1
        return f"result_{index}" if several else "result"
