"""The function that a module calls: it allocates the results and launches the kernels."""

import re
from dataclasses import dataclass

from egg.tools.expert.rows.body import indented
from egg.tools.expert.rows.tile import Tile


@dataclass(frozen=True)
class Tensor:
    """A tensor that the host function is given or returns."""

    variable: str
    """In the kernel; the pointer is `<variable>_ptr`."""
    expression: str
    """What the host passes (an input), or the shape that it allocates (a result)."""
    dtype: str = ""
    """Of a result: `torch.float32`, or `x.dtype`."""


@dataclass(frozen=True)
class Host:
    """Everything about the host function but its launches."""

    name: str
    parameters: str
    device: str
    """`x.device`"""
    inputs: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    prepare: tuple[str, ...] = ()
    scalars: tuple[tuple[str, str], ...] = ()
    """Numbers that the kernels are passed besides the sizes, with what the host computes them from."""
    title: str = ""

    @property
    def meta(self) -> str:
        return f"{self.name.upper()}_META"

    def write(self, body: list[str], sizes: dict[str, str]) -> str:
        """`body` launches; sizes that it names are computed first."""
        text = "\n".join(body)
        while more := [s for s in sizes if _names(s, text) and f"{s} = {sizes[s]}" not in text]:
            text = f"{more[0]} = {sizes[more[0]]}\n" + text
        results = [
            f"{t.variable} = torch.empty({t.expression}, dtype={t.dtype}, device={self.device})" for t in self.results
        ]
        named = ", ".join(t.variable for t in self.results)
        title = [f'"""{self.title}"""'] if self.title else []
        text = "\n".join([f"{name} = {value}" for name, value in self.scalars] + [text])
        lines = [*title, *self.prepare, *results, *text.splitlines(), f"return {named}"]
        return "\n".join([f"def {self.name}({self.parameters}):", *indented(lines), ""])

    def launch(self, source: str, grid: str) -> str:
        """The launch of a kernel of this source, with its parameters in their own order."""
        passed = {t.variable: t.expression for t in self.inputs}
        arguments = [passed.get(name, name) for name in parameters_of(source)]
        kernel_name = source[source.index("def ") + 4 : source.index("(")]
        programs = grid if ", " in grid and not grid.endswith(")") else f"{grid},"
        arguments.append("**meta")
        call = f"{kernel_name}[grid]({', '.join(arguments)})"
        if len(call) > 110:
            call = f"{kernel_name}[grid](\n    {', '.join(arguments)},\n)"
        return f"grid = ({programs})\n{call}"

    def fitted(self, sizes: dict[str, str]) -> str:
        """The tunables, with no block longer than the tensor: shorter rows than these were tuned for may come."""
        fits = "".join(
            f', {block}=min({self.meta}["{block}"], triton.next_power_of_2({size}))' for block, size in sizes.items()
        )
        return f"meta = dict({self.meta}{fits})"


def kernel(tile: Tile, suffix: str, pointers: list[str], constants: list[str], body: list[str], title: str) -> str:
    """Source of one kernel; it takes the tensors and sizes that its body names."""
    text = "\n".join(body)
    sizes = [
        size
        for size in [*tile.sizes(), "span", "splits", *tile.program.scalars]
        if _names(size, text) and f"{size} = " not in text
    ]
    used = [f"{pointer}_ptr" for pointer in pointers if _names(f"{pointer}_ptr", text)]
    parameters = used + sizes + [f"{constant}: tl.constexpr" for constant in constants]
    head = f"def {tile.program.name}_{suffix}({', '.join(parameters)}):"
    if len(head) > 110:
        head = f"def {tile.program.name}_{suffix}(\n    {', '.join(parameters)},\n):"
    note = [f'"""{title}"""'] if title else []
    return "\n".join(["@triton.jit", head, *indented([*note, *body]), ""])


def parameters_of(source: str) -> list[str]:
    """A kernel's tensors and sizes, by the host's names."""
    inside = source[source.index("(") + 1 : source.index("):")]
    names = [part.strip() for part in inside.split(",")]
    return [name.removesuffix("_ptr") for name in names if name and ":" not in name]


def _names(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w.]){name}\b(?!\s*=[^=])", text) is not None
