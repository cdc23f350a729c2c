"""What becomes of a finished tile of a product: bias, pointwise operators, stores.

The kernel around it defines `acc` (BLOCK_M, BLOCK_N), `first_row` (64 bits), `row_in`, `row_ok`, `cols`, `col_ok`,
`inside` and `at`, the offsets in a row-major output from its row `first_row`.
"""

from math import prod
from typing import TYPE_CHECKING, Literal, NamedTuple

from egg.tools.expert.chain import in_register, lines
from egg.tools.expert.gemm_operands import Operands
from egg.tools.expert.region import Region, Value

if TYPE_CHECKING:
    from torch.fx import Node

Place = Literal["scalar", "columns", "rows", "tile", "repeated_rows", "repeated_tile"]
Shape = tuple[int, ...]
RESERVED = ("scale", "a", "b", "a_scale", "b_scale", "a_high", "a_low", "b_high", "b_low", "partial")


class Epilogue(NamedTuple):
    """Kernel text, and what the host has to pass for it."""

    parameters: tuple[str, ...]
    arguments: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The statements, indented as in a kernel."""
        return "\n".join(f"    {line}" for line in self.lines)


def place(shape: Shape, output: Shape) -> Place | None:
    """How a tensor lies over the row-major (rows, N) output; None where no simple index reaches it."""
    if len(shape) > len(output):
        return None
    if prod(shape) == 1:
        return "scalar"
    last, lead = shape[-1], shape[:-1]
    while lead and lead[0] == 1:
        lead = lead[1:]
    if last not in (1, output[-1]) or (lead and lead != output[-1 - len(lead) : -1]):
        return None
    every = prod(lead) == prod(output[:-1])
    if last == output[-1]:
        return "columns" if not lead else "tile" if every else "repeated_tile"
    return "rows" if every else "repeated_rows"


def place_of(value: Value, output: Value) -> Place | None:
    """The same at full and at small size, or None."""
    full = place(value.shape, output.shape)
    return full if full == place(value.small_shape, output.small_shape) else None


def write_epilogue(region: Region, anchor: "Node", found: Operands) -> Epilogue:
    """For `anchor`, whose product lies in `acc`, still without scale and bias."""
    output = region.graph.value(anchor)
    parameters: dict[str, str] = {}
    text: list[str] = []

    def load(value: Value) -> str:
        pointer = f"{value.name}_ptr" if value.name not in RESERVED else f"{value.name}_extra_ptr"
        parameters[pointer] = value.name if value.contiguous else f"{value.name}.contiguous()"
        where = place_of(value, output)
        repeat = f"(first_row + row_in) % {value.name}_rows"
        if where in ("repeated_rows", "repeated_tile"):
            parameters[f"{value.name}_rows"] = f"{value.name}.numel() // {value.name}.shape[-1]"
        match where:
            case "scalar":
                return f"tl.load({pointer})"
            case "columns":
                return f"tl.load({pointer} + cols, mask=col_ok, other=0)[None, :]"
            case "rows":
                return f"tl.load({pointer} + first_row + row_in, mask=row_ok, other=0)[:, None]"
            case "tile":
                return f"tl.load({pointer} + first_row * N + at, mask=inside, other=0)"
            case "repeated_rows":
                return f"tl.load({pointer} + {repeat}, mask=row_ok, other=0)[:, None]"
            case "repeated_tile":
                return f"tl.load({pointer} + ({repeat})[:, None] * N + cols[None, :], mask=inside, other=0)"
        raise ValueError(f"{value.name} does not lie over the product's output")

    values = {anchor: "acc"}
    if found.scale is not None:
        scale = region.graph.value(found.scale)
        parameters["scale_ptr"] = f"{scale.name}.contiguous()"
        one = scale.elements == 1
        loaded = "tl.load(scale_ptr)" if one else "tl.load(scale_ptr + cols, mask=col_ok, other=0)"
        text.append(f"acc *= {in_register(scale, loaded)}{'' if one else '[None, :]'}")
    if found.added is not None:
        bias = region.graph.value(found.added)
        text.append(f"acc += {in_register(bias, load(bias))}")
    scalars: dict[str, str] = {}
    text += lines(region, region.epilogue, values, load, scalars)
    outputs = region.output_nodes
    for i, node in enumerate(outputs):
        text.append(f"tl.store({out_name(i, len(outputs))}_ptr + first_row * N + at, {values[node]}, mask=inside)")
    names = [out_name(i, len(outputs)) for i in range(len(outputs))]
    return Epilogue(
        (*parameters, *(f"{name}_ptr" for name in names), *scalars),
        (*parameters.values(), *names, *scalars.values()),
        tuple(text),
    )


def out_name(index: int, count: int) -> str:
    """Host variable of an output."""
    return "out" if count == 1 else f"out_{index}"
