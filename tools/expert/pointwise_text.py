"""Source of a pointwise region: META table, kernel, host function."""

from typing import TYPE_CHECKING

from egg.tools.expert.broadcast import Axes, flat_index
from egg.tools.expert.chain import lines
from egg.tools.expert.layout import call
from egg.tools.expert.region import Region, Value
from egg.tools.expert.spec import RegionSpec

if TYPE_CHECKING:
    from torch.fx import Node


def write(region: Region, spec: RegionSpec, axes: Axes) -> str:
    """The whole region."""
    rowwise = spec.structure["name"] == "fused_rowwise" and len(axes.groups) > 1
    programs = int(spec.mapping.get("programs_per_sm", 0)) * int(spec.facts.get("sms", 0))
    program = _Program(region, spec, axes, rowwise, 0 if rowwise else programs)
    return "\n\n\n".join((program.table(), program.kernel(), program.host()))


class _Program:
    """One rendering; the parts share the names of sizes and scalars."""

    def __init__(self, region: Region, spec: RegionSpec, axes: Axes, rowwise: bool, programs: int) -> None:
        self.region, self.spec, self.axes = region, spec, axes
        self.rowwise, self.programs = rowwise, programs
        self.inputs, self.outputs = region.inputs, region.outputs
        self.scalars: dict[str, str] = {}
        self.sizes = tuple(f"size_{i}" for i in range(len(axes.groups)))
        self.whole = (True,) * len(axes.groups)
        self.statements = self._compute()

    def table(self) -> str:
        values = [f"{name}={value!r}" for name, value in self.spec.tiling.items()]
        if self.programs:
            values.append(f"STAGES={self.spec.memory.get('num_stages', 1)}")
        text = f"{self.region.name.upper()}_META = dict({', '.join(values)})"
        return text + (f"\n{self.region.name.upper()}_PROGRAMS = {self.programs}" if self.programs else "")

    def kernel(self) -> str:
        sizes = self._kernel_sizes()
        names = [f"{value.name}_ptr" for value in self.inputs] + [f"result_{i}_ptr" for i in range(len(self.outputs))]
        arguments = [*names, *sizes, *self._strides(), *self.scalars, "BLOCK: tl.constexpr"]
        arguments += ["STAGES: tl.constexpr"] if self.programs else []
        body = [*self._indices(), *self.statements]
        if self.programs:
            span = "tl.program_id(0), tl.cdiv(total, BLOCK), tl.num_programs(0)"
            head = [f"for block in tl.range({span}, num_stages=STAGES):"]
            body = head + ["    " + line for line in body]
        return "\n".join(
            [
                "@triton.jit",
                call(f"def {self.region.name}_kernel", arguments, "):"),
                f'    """{self._summary()}"""',
                *("    " + line for line in body),
            ]
        )

    def host(self) -> str:
        result, name = self.outputs[0], self.region.name
        prepare = [self._prepare(value) for value in self.inputs]
        shape = self._shape(result)
        device = f"{self.inputs[0].name}.device"
        allocate = [f"shape = {shape}"] + [
            f"result_{i} = torch.empty(shape, device={device}, dtype=torch.{value.dtype})"
            for i, value in enumerate(self.outputs)
        ]
        results = [f"result_{i}" for i in range(len(self.outputs))]
        inputs, sizes = [value.name for value in self.inputs], self._host_sizes()
        strides = list(self._strides().values())
        operands = [*inputs, *results, *sizes, *strides, *self.scalars.values(), f"**{name.upper()}_META"]
        body = [*prepare, *allocate, f"grid = {self._grid()}", call(f"{name}_kernel[grid]", operands, indent=4)]
        signature = f"def {name}({self.region.parameters}):"
        return "\n".join([signature, *("    " + line for line in body), f"    return {', '.join(results)}"])

    def _compute(self) -> list[str]:
        values: dict[Node, str] = {}
        statements = lines(self.region, self.region.nodes, values, self._load, self.scalars)
        whole = flat_index(self.whole, self._coordinates(), self.sizes) if self.rowwise else "offsets"
        stores = [
            f"tl.store(result_{i}_ptr + {whole}, {values[node]}, mask=inside)"
            for i, node in enumerate(self.region.output_nodes)
        ]
        return [*statements, *stores]

    def _load(self, value: Value) -> str:
        present = self.axes.present[value.name]
        if not any(present):
            return f"tl.load({value.name}_ptr)"
        index = self._strided_index(value) if value.row_strided else self._index(present)
        if self.rowwise and not present[-1]:
            return f"tl.load({value.name}_ptr + {index})"
        keep = ', eviction_policy="evict_last"' if self.spec.memory.get("keep_broadcast") and not all(present) else ""
        return f"tl.load({value.name}_ptr + {index}, mask=inside{keep})"

    def _index(self, present: tuple[bool, ...]) -> str:
        """Offset in a contiguous tensor."""
        if all(present) and not self.rowwise:
            return "offsets"
        return flat_index(present, self._coordinates(), self.sizes)

    def _strided_index(self, value: Value) -> str:
        terms = [
            coordinate if stride is None else f"{coordinate} * {stride}"
            for coordinate, stride, _ in self._strided_dims(value)
        ]
        return " + ".join(terms) or "0"

    def _strided_dims(self, value: Value) -> list[tuple[str, str | None, int]]:
        """(coordinate, kernel parameter for the stride, dimension) wherever the tensor is not repeated."""
        missing = len(self.outputs[0].shape) - len(value.shape)
        last = len(value.shape) - 1
        found: list[tuple[str, str | None, int]] = []
        for coordinate, group, here in zip(
            self._coordinates(), self.axes.groups, self.axes.present[value.name], strict=True
        ):
            if here:
                dim = group[0] - missing
                found.append((coordinate, None if dim == last else f"{value.name}_stride_{dim}", dim))
        return found

    def _strides(self) -> dict[str, str]:
        """Kernel parameters for strides, and what the host passes."""
        dims = [(value, *rest) for value in self.inputs if value.row_strided for rest in self._strided_dims(value)]
        return {stride: f"{value.name}.stride({dim})" for value, _, stride, dim in dims if stride is not None}

    def _prepare(self, value: Value) -> str:
        """A layout that the kernel can read; no copy where it has it already."""
        if value.row_strided:
            return f"{value.name} = {value.name} if {value.name}.stride(-1) == 1 else {value.name}.contiguous()"
        return f"{value.name} = {value.name}.contiguous()"

    def _coordinates(self) -> list[str]:
        if len(self.sizes) == 1:
            return ["offsets"]
        last = "column" if self.rowwise else f"index_{len(self.sizes) - 1}"
        if self.rowwise and len(self.sizes) == 2:
            return ["row", last]
        return [*(f"index_{i}" for i in range(len(self.sizes) - 1)), last]

    def _indices(self) -> list[str]:
        wide = ".to(tl.int64)" if self.spec.facts.get("wide") else ""
        if self.rowwise:
            rows = [f"row = tl.program_id(0){wide}", "column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)"]
            return [*rows, f"inside = column < {self.sizes[-1]}", *self._split("row", len(self.sizes) - 1)]
        block = "block" if self.programs else "tl.program_id(0)"
        if self.programs and wide:  # a range's variable is a plain int in the interpreter, and 32 bits on the GPU
            block = "(block + tl.zeros([1], tl.int64))"
        elif wide:
            block = "tl.program_id(0).to(tl.int64)"
        flat = [f"offsets = {block} * BLOCK + tl.arange(0, BLOCK)", "inside = offsets < total"]
        return [*flat, *self._split("offsets", len(self.sizes))]

    def _split(self, whole: str, count: int) -> list[str]:
        """Coordinates of a flat index along the first `count` groups; only those some tensor needs."""
        if count < 2:
            return []
        found, rest = [], whole
        used = " ".join(self.statements)
        for i in range(count - 1, -1, -1):
            text = f"{rest} % {self.sizes[i]}" if i else rest
            if f"index_{i}" in used:
                found.append(f"index_{i} = {text}")
            if i:
                rest = f"{rest} // {self.sizes[i]}" if rest == whole else f"({rest}) // {self.sizes[i]}"
        return found

    def _kernel_sizes(self) -> list[str]:
        text = " ".join([*self._indices(), *self.statements])
        return [*([] if self.rowwise else ["total"]), *(size for size in self.sizes if size in text)]

    def _host_sizes(self) -> list[str]:
        kernel = self._kernel_sizes()
        products = {
            size: " * ".join(f"shape[{dim}]" for dim in group)
            for size, group in zip(self.sizes, self.axes.groups, strict=True)
        }
        return ["result_0.numel()" if size == "total" else products[size] for size in kernel]

    def _grid(self) -> str:
        meta = f"{self.region.name.upper()}_META"
        if self.rowwise:
            row = " * ".join(f"shape[{dim}]" for dim in self.axes.groups[-1])
            return f'(result_0.numel() // ({row}), triton.cdiv({row}, {meta}["BLOCK"]))'
        blocks = f'triton.cdiv(result_0.numel(), {meta}["BLOCK"])'
        return f"(min({blocks}, {self.region.name.upper()}_PROGRAMS),)" if self.programs else f"({blocks},)"

    def _shape(self, result: Value) -> str:
        """The result's shape in the host function: an input's where one is as large, else put together."""
        for value in self.inputs:
            if (value.shape, value.small_shape) == (result.shape, result.small_shape):
                return f"{value.name}.shape"
        sizes = [self._extent(result, dim) for dim in range(len(result.shape))]
        return f"({', '.join(sizes)},)"

    def _extent(self, result: Value, dim: int) -> str:
        pair = (result.shape[dim], result.small_shape[dim])
        for value in self.inputs:
            own = dim - len(result.shape) + len(value.shape)
            if own >= 0 and (value.shape[own], value.small_shape[own]) == pair:
                return f"{value.name}.shape[{own}]"
        return self.region.number(*pair)

    def _summary(self) -> str:
        operators = [self.region.graph.op(node).removeprefix("aten.") for node in self.region.nodes]
        order = "one row's piece a program" if self.rowwise else "elements in memory order"
        return f"{', '.join(operators)} in one pass; {order}."
