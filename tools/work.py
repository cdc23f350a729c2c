"""What one launch does, read from Triton's own IR (TTIR text) and the launch's scalar arguments.

Scalars are evaluated, so that loops are counted as often as the program in the middle of the grid goes round them: half
of a causal attention's blocks, one share of a persistent kernel's tiles. A bound that depends on loaded data is taken
as one turn, and the result says `guessed`.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod

LOCATION = re.compile(r"\s*loc\((?:[^()]|\([^()]*\))*\)\s*$")
ALIAS = re.compile(r"^(#loc\d*) = (loc\(.*\))$")
PLACE = re.compile(r'"([^"]*)":(\d+):|(#loc\d*)')
ASSIGN = re.compile(r"^(?:(%[\w#.$-]+)(?::\d+)? = )?\"?([a-z_]+\.[\w.]+)\"?\s*(.*)$")
FOR = re.compile(r"scf\.for (%[\w.$-]+) = (%?[\w.$#-]+) to (%?[\w.$#-]+) step (%?[\w.$#-]+)")
TENSOR = re.compile(r"tensor(?:desc)?<((?:\d+x)*)([^,>]+)")
POINTER = re.compile(r": [^:]*?!tt\.ptr<(\w+)")
ARGUMENT = re.compile(r"%([\w.$-]+): ")
OPERAND = re.compile(r"%[\w.$#-]+")

WIDTH = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i16": 2}  # bytes; anything else is one
PRODUCTS = {"tf32x3": ("tf32", 3), "bf16x3": ("bf16", 3), "bf16x6": ("bf16", 6), "tf32": ("tf32", 1)}
INPUTS = {"f16": "fp16", "bf16": "bf16", "i8": "int8"}
SLOW = ("math.", "arith.divf", "tt.extern_elementwise", "tt.precise_divf", "tt.precise_sqrt")
QUICK = ("math.fma", "math.abs", "math.floor", "math.ceil")
NO_FLOPS = ("arith.truncf", "arith.extf", "arith.cmpf")
SLOW_COST = 6.0  # a special-function unit does 16 lanes a clock where the ordinary ones do 128, beside them

BINARY: dict[str, Callable[[int, int], int]] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.divsi": lambda a, b: a // b,
    "arith.divui": lambda a, b: a // b,
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.remsi": lambda a, b: a % b,
    "arith.remui": lambda a, b: a % b,
    "arith.minsi": min,
    "arith.minui": min,
    "arith.maxsi": max,
    "arith.maxui": max,
}
COPIES = ("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast")


@dataclass
class Work:
    """Totals of a launch, and of one turn of a program's busiest loop."""

    load_bytes: float = 0.0
    store_bytes: float = 0.0
    dots: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """FLOPs in matrix products by the precision whose unit does them; a product in three passes counts thrice."""
    alu: float = 0.0
    """Elementwise operations, slow ones weighted."""
    elementwise: float = 0.0
    """FLOPs outside matrix products; reductions among them, a function of the special-function unit as one."""
    by_line: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Bytes loaded and stored by line of the source."""
    step_bytes: float = 0.0
    steps: float = 1.0
    guessed: bool = False
    loops: list[float] = field(default_factory=list)
    """Turns of each loop when it is entered once, in the order of their heads."""


@dataclass
class Scope:
    """One nested region: how often a program runs it, and what it loads each time."""

    turns: float
    loads: float = 0.0


class Places:
    """Lines of one source file behind the locations of an IR text: of what was inlined, its own if it has one there."""

    def __init__(self, ttir: str, file: str) -> None:
        self.file = file
        found = (ALIAS.match(line) for line in ttir.splitlines() if line.startswith("#loc"))
        self._aliases = {alias.group(1): alias.group(2) for alias in found if alias}
        self._lines: dict[str, int] = {}

    def line(self, location: str) -> int:
        """Of `loc(...)`; 0 if it does not lead to the file."""
        if location not in self._lines:
            self._lines[location] = 0  # and so a circle, which no compiler writes, ends
            found = (self._step(*place.groups()) for place in PLACE.finditer(location))
            self._lines[location] = next((line for line in found if line), 0)
        return self._lines[location]

    def _step(self, file: str | None, line: str, alias: str) -> int:
        if alias:
            return self.line(self._aliases.get(alias, ""))
        return int(line) if file == self.file else 0


def count_work(ttir: str, scalars: Mapping[str, int], grid: tuple[int, ...], file: str = "") -> Work:
    """Count loads, stores, products and elementwise work of all programs of a launch.

    Args:
        ttir: the IR as text.
        scalars: values of integer arguments.
        grid: programs.
        file: the source whose lines are wanted in `by_line`, as locations name it.
    """
    places = Places(ttir, file)
    programs = prod(grid)
    axes = dict(zip("xyz", (*grid, 1, 1)[:3], strict=True))
    values: dict[str, int] = {}
    work, scopes = Work(), [Scope(1.0)]
    for raw in ttir.splitlines():
        line = LOCATION.sub("", raw.strip())
        if line.startswith("tt.func"):
            values |= {f"%{n}": scalars[n] for n in ARGUMENT.findall(line) if n in scalars}
        if line.startswith("}") and len(scopes) > 1:
            _close(scopes.pop(), work)
            if line.startswith("})") and (tensors := TENSOR.findall(line)):  # of a reduction or a scan
                work.elementwise += _elements(tensors[0]) * scopes[-1].turns * programs
        if line.endswith("{"):
            scopes.append(Scope(scopes[-1].turns * _turns(line, values, work)))
        elif found := ASSIGN.match(line):
            name, op, rest = found.groups()
            _evaluate(name, op, rest, values, axes)
            moved = _tally(op, rest, scopes[-1], programs, work)
            if file and any(moved) and (location := LOCATION.search(raw)):
                at = places.line(location.group().strip())
                before = work.by_line.get(at, (0.0, 0.0))
                work.by_line[at] = (before[0] + moved[0], before[1] + moved[1])
    while scopes:
        _close(scopes.pop(), work)
    return work


def _close(scope: Scope, work: Work) -> None:
    work.step_bytes = max(work.step_bytes, scope.loads)
    work.steps = max(work.steps, scope.turns)


def _turns(line: str, values: dict[str, int], work: Work) -> float:
    if "scf.while" in line:
        work.guessed = True
        work.loops.append(1.0)
    loop = FOR.search(line)
    if not loop:
        return 1.0
    start, stop, step = (values.get(bound) for bound in loop.groups()[1:])
    if start is None or stop is None or not step:
        work.guessed = True
        work.loops.append(1.0)
        return 1.0
    turns = max(0, -(-(stop - start) // step))
    values[loop.group(1)] = start + turns // 2 * step
    work.loops.append(float(turns))
    return float(turns)


def _evaluate(name: str | None, op: str, rest: str, values: dict[str, int], axes: dict[str, int]) -> None:
    """Give `name` its value if it is a scalar that follows from known ones."""
    if name is None or "tensor<" in rest:
        return
    operands = [values.get(operand) for operand in OPERAND.findall(rest)]
    if op == "arith.constant":
        if constant := re.match(r"(-?\d+) :", rest):
            values[name] = int(constant.group(1))
    elif op == "tt.get_program_id":
        values[name] = axes[rest[0]] // 2
    elif op == "tt.get_num_programs":
        values[name] = axes[rest[0]]
    elif op in COPIES and operands and operands[0] is not None:
        values[name] = operands[0]
    elif op in BINARY and len(operands) == 2:
        left, right = operands
        if left is not None and right is not None and (right or "div" not in op and "rem" not in op):
            values[name] = BINARY[op](left, right)


def _tally(op: str, rest: str, scope: Scope, programs: int, work: Work) -> tuple[float, float]:
    """Add one operation; bytes that it loads and stores."""
    tensors, often = TENSOR.findall(rest), scope.turns * programs
    if not tensors:
        return _one(op, rest, often, work)
    if op in ("tt.load", "tt.descriptor_load", "tt.descriptor_gather"):
        size = _bytes(tensors[-1])
        scope.loads += size
        work.load_bytes += size * often
        return size * often, 0.0
    elif op in ("tt.store", "tt.descriptor_store", "tt.descriptor_scatter", "tt.atomic_rmw", "tt.descriptor_reduce"):
        work.store_bytes += _bytes(tensors[0]) * often
        return 0.0, _bytes(tensors[0]) * often
    elif op in ("tt.dot", "tt.dot_scaled"):
        _dot(rest, tensors, often, work)
    elif op.startswith(SLOW) or (op.startswith("arith.") and op.endswith("f")):
        slow = op.startswith(SLOW) and not op.startswith(QUICK)
        work.alu += (SLOW_COST if slow else 1.0) * _elements(tensors[-1]) * often
        if op not in NO_FLOPS:
            work.elementwise += (2.0 if op == "math.fma" else 1.0) * _elements(tensors[-1]) * often
    return 0.0, 0.0


def _one(op: str, rest: str, often: float, work: Work) -> tuple[float, float]:
    """One element, by the type of its address."""
    address = POINTER.search(rest)
    if address is None or op not in ("tt.load", "tt.store", "tt.atomic_rmw"):
        return 0.0, 0.0
    size = WIDTH.get(address.group(1), 1) * often
    if op == "tt.load":
        work.load_bytes += size
        return size, 0.0
    work.store_bytes += size
    return 0.0, size


def _dot(rest: str, tensors: list[tuple[str, str]], often: float, work: Work) -> None:
    left, right = tensors[0], tensors[1]
    depth = int(left[0].rstrip("x").split("x")[-1])
    columns = int(right[0].rstrip("x").split("x")[-1])
    flops = 2.0 * _elements(left) * columns
    asked = re.search(r"inputPrecision = (\w+)", rest)
    precision, passes = INPUTS.get(left[1], "fp32"), 1
    if left[1] == "f32" and asked:
        precision, passes = PRODUCTS.get(asked.group(1), ("fp32", 1))
    if left[1].startswith("f8"):
        precision = "fp8"
    assert depth > 0
    work.dots[precision] += flops * passes * often


def _elements(tensor: tuple[str, str]) -> int:
    return prod(int(size) for size in tensor[0].rstrip("x").split("x") if size)


def _bytes(tensor: tuple[str, str]) -> int:
    kind = tensor[1].removeprefix("!tt.ptr<")
    return _elements(tensor) * WIDTH.get(kind, 1)
