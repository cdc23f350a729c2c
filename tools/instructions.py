"""What the warps of a kernel issue, read from its PTX and, once it is launched, from the turns of its loops.

PTX is not what the GPU runs, but near enough to rank kernels by: what becomes one machine instruction counts once, and
what is known to become several counts so many times. Loops stand in PTX in the order in which Triton's IR has them.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from pydantic import Field

from egg.state.record import Record

LABEL = re.compile(r"^(\$L\w+):")
BRANCH = re.compile(r"\bbra(?:\.uni)?\s+(\$L\w+);")
STATEMENT = re.compile(r"^(?:@!?%\w+\s+)?([a-z][\w.:]*)\s")
SPECIAL = re.compile(r"(ex2|lg2|sin|cos|tanh|rcp|rsqrt|sqrt)\.")
WIDTH = re.compile(r"\.(?:v(\d)\.)?[a-z](\d+)$")
COPIED = re.compile(r"\],\s*(0x[0-9a-f]+|\d+)")
WGMMA = re.compile(r"wgmma\.mma_async.*\.m64n(\d+)k(\d+)")
FREE = ("mov", "ret", "bra", "fence", "cp", "mbarrier", "wgmma", "griddepcontrol")
SEVERAL = (
    (re.compile(r"(div|rem)\.[us]\d"), 20.0),
    (re.compile(r"(div|sqrt)\.(rn|full)"), 9.0),
    (re.compile(r"\.[bsu]64"), 2.0),
)
LANES = 32
FETCHED = 32
"""Columns of a warp-group product that take as long as fetching its left operand from shared memory; the right one, of
as many columns as the product, takes half as long as the product itself."""


class Effort(Record):
    """Of one warp of one program, within `loops` and not deeper; once their turns are known, altogether."""

    loops: tuple[int, ...] = Field((), description="Loops around it, by the order of their heads")
    instructions: float = 0.0
    special: float = Field(0.0, description="Of `instructions`, those of the special-function unit")
    global_bytes: float = Field(0.0, description="Through the first-level cache, device memory's side")
    accesses: float = Field(0.0, description="Instructions that move `global_bytes`")
    shared_bytes: float = 0.0
    barriers: float = 0.0
    shuffles: float = 0.0
    copies: float = Field(0.0, description="Asynchronous ones, to shared memory")
    waits: float = Field(0.0, description="For warp-group products to end")
    product: float = Field(0.0, description="Multiply-adds of warp-group products, a row of 64 counting as one")
    product_fed: float = Field(0.0, description="The same, of the width that could be done while operands are fetched")


COUNTS = tuple(name for name in Effort.model_fields if name != "loops")


def efforts(ptx: str) -> tuple[Effort, ...]:
    """All statements of a kernel, those within the same loops together."""
    lines = ptx.splitlines()
    sums: dict[tuple[int, ...], dict[str, float]] = defaultdict(lambda: dict.fromkeys(COUNTS, 0.0))
    for line, loops in zip(lines, _loops(lines), strict=True):
        for name, amount in _statement(line.strip()).items():
            sums[loops][name] += amount
    return tuple(Effort(loops=loops, **counts) for loops, counts in sorted(sums.items()))


def altogether(parts: Iterable[Effort], turns: Sequence[float]) -> Effort:
    """Every part as often as its loops turn.

    Args:
        parts: what `efforts` gives.
        turns: of each loop when it is entered once. Loops of PTX beyond these (a wait, a compare-and-swap) turn once.
    """
    sums = dict.fromkeys(COUNTS, 0.0)
    for part in parts:
        often = 1.0
        for loop in part.loops:
            often *= turns[loop] if loop < len(turns) else 1.0
        for name in COUNTS:
            sums[name] += often * getattr(part, name)
    return Effort(**sums)


def _loops(lines: Sequence[str]) -> list[tuple[int, ...]]:
    """For each line the loops that it stands in: between a label and the last branch back to it."""
    heads: dict[str, int] = {}
    tails: dict[int, int] = {}
    for number, line in enumerate(lines):
        if label := LABEL.match(line):
            heads[label.group(1)] = number
        elif (branch := BRANCH.search(line)) and branch.group(1) in heads:
            tails[heads[branch.group(1)]] = number
    around: list[tuple[int, ...]] = [()] * len(lines)
    for place, head in enumerate(sorted(tails)):
        for number in range(head, tails[head] + 1):
            around[number] = (*around[number], place)
    return around


def _statement(line: str) -> dict[str, float]:
    found = STATEMENT.match(line)
    if not found:
        return {}
    op = found.group(1)
    if op.startswith(("bar.sync", "barrier.sync")):
        return {"instructions": 1.0, "barriers": 1.0}
    if op.startswith("shfl"):
        return {"instructions": 1.0, "shuffles": 1.0}
    if op.startswith(("ld.shared", "st.shared")):
        return {"instructions": 1.0, "shared_bytes": LANES * _width(op)}
    if op.startswith(("ld.global", "st.global", "atom", "red.")):
        return {"instructions": 1.0, "global_bytes": LANES * _width(op), "accesses": 1.0}
    if op.startswith(("cp.async.ca", "cp.async.cg")):
        size = COPIED.search(line)
        moved = LANES * float(int(size.group(1), 0) if size else 16)
        return {"instructions": 1.0, "global_bytes": moved, "accesses": 1.0, "copies": 1.0}
    if op.startswith("cp.async.bulk.tensor"):
        return {"instructions": 1.0, "copies": 1.0}
    if wide := WGMMA.search(op):
        columns, depth = int(wide.group(1)), int(wide.group(2))
        fetched = columns / 2 + FETCHED
        return {"instructions": 1.0, "product": columns * depth, "product_fed": max(columns, fetched) * depth}
    if op.startswith("wgmma.wait"):
        return {"waits": 1.0}
    if op.split(".")[0] in FREE:
        return {}
    cost = next((cost for kind, cost in SEVERAL if kind.search(op)), 1.0)
    return {"instructions": cost, "special": 1.0 if SPECIAL.match(op) else 0.0}


def _width(op: str) -> float:
    """Bytes that one lane moves."""
    width = WIDTH.search(op)
    return int(width.group(1) or 1) * int(width.group(2)) / 8 if width else 4.0
