"""For children: a kernel compiled for a GPU that is not here, and what became of it."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import triton
from triton.compiler import ASTSource

from egg.tools.tasks import lower as lowering
from egg.tools.tasks.cubin import resources
from egg.tools.tasks.faults import explain
from egg.tools.tasks.gpu_target import triton_target


class Built(NamedTuple):
    """One compiled kernel; bytes of spills a thread and of shared memory a block."""

    ttgir: str
    ptx: str
    registers: int
    spills: int
    shared: int

    def has(self, pattern: str) -> bool:
        """Whether an instruction of the PTX matches."""
        return re.search(pattern, self.ptx) is not None

    def count(self, pattern: str) -> int:
        """How many instructions of the PTX match."""
        return len(re.findall(pattern, self.ptx))

    def loop(self) -> str:
        """The body of the TTGIR's first loop."""
        return self.ttgir.split("scf.for", 1)[1].split("scf.yield", 1)[0]


def build(
    kernel: Any,
    types: str,
    constants: dict[str, Any] | None = None,
    target: str = "sm_90",
    uneven: str = "",
    **options: Any,
) -> Built:
    """Compile for a target.

    Args:
        types: of the arguments that are no constants, in order: `*fp32, *fp32, i32`.
        constants: values of the constexpr arguments.
        target: `sm_90`.
        uneven: names of the arguments that are not multiples of 16, spaced.
        options: `num_warps`, `num_stages`.
    """
    source = _source(kernel, types, constants or {}, uneven)
    found = triton.compile(source, triton_target(target), options)
    used = resources(found.asm["cubin"], found.metadata.name)
    return Built(found.asm["ttgir"], found.asm["ptx"], used.registers, used.spills, found.metadata.shared)


def _source(kernel: Any, types: str, constants: dict[str, Any], uneven: str = "") -> ASTSource:
    names = kernel.arg_names
    free = [name for name in names if name not in constants]
    given = dict(zip(free, (each.strip() for each in types.split(",")), strict=True))
    signature = {name: given.get(name, "constexpr") for name in names}
    even = [name for name in free if given[name][0] in "*i" and name not in uneven.split()]
    attributes = {(names.index(name),): [["tt.divisibility", 16]] for name in even}
    return ASTSource(kernel, signature, {(names.index(name),): value for name, value in constants.items()}, attributes)


def lower(kernel: Any, types: str, constants: dict[str, Any], target: str = "sm_90", **options: Any) -> None:
    """Triton's first stage alone, where what it does not take is refused; quicker than `build`."""
    gpu = triton_target(target)
    lowering.lower(_source(kernel, types, constants), gpu, options, "mistakes.py")


def verdict(attempt: Callable[[], object], source: str) -> str:
    """What the judge would say of an attempt to compile: status and feedback; empty if it compiles."""
    try:
        attempt()
    except Exception as error:
        told = explain(error, source)
        return f"{told.status}: {told}"
    return ""
