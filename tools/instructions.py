"""How many instructions a warp issues in one program, read from a kernel's PTX and the turns of its loops.

PTX is not what the GPU runs, but near enough to rank kernels by: what becomes one machine instruction counts once, and
what is known to become several counts so many times. Loops stand in PTX in the order in which Triton's IR has them.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

LABEL = re.compile(r"^(\$L\w+):")
BRANCH = re.compile(r"\bbra(?:\.uni)?\s+(\$L\w+);")
STATEMENT = re.compile(r"^(?:@!?%\w+\s+)?([a-z][\w.:]*)\s")
SPECIAL = re.compile(r"(ex2|lg2|sin|cos|tanh|rcp|rsqrt|sqrt)\.")
WIDTH = re.compile(r"\.(?:v(\d)\.)?[a-z](\d+)$")
COPIED = re.compile(r"\],\s*(0x[0-9a-f]+|\d+)")
DIRECTIVES = ("mov", "ret", "bra", "bar", "fence", "cp", "mbarrier", "wgmma", "griddepcontrol")
SEVERAL = ((re.compile(r"(div|rem)\.[us]\d"), 20.0), (re.compile(r"(div|sqrt)\.(rn|full)"), 9.0), (re.compile(r"\.[bsu]64"), 2.0))
LANES = 32


class Issued(NamedTuple):
    """Of one warp of one program. Instructions; those of the special-function unit; bytes through the first level."""

    instructions: float = 0.0
    special: float = 0.0
    global_bytes: float = 0.0
    global_accesses: float = 0.0
    shared_bytes: float = 0.0
    barriers: float = 0.0


def count_instructions(ptx: str, loops: Sequence[float]) -> Issued:
    """Every statement as often as the loops around it turn.

    Args:
        ptx: of one kernel.
        loops: turns of each loop when it is entered once, in the order of their heads; loops of PTX beyond these
            (a wait, a compare-and-swap) count as one turn.
    """
    lines = ptx.splitlines()
    often = _often(lines, loops)
    total = [0.0] * len(Issued._fields)
    for line, times in zip(lines, often, strict=True):
        for place, amount in enumerate(_statement(line.strip())):
            total[place] += times * amount
    return Issued(*total)


def _often(lines: Sequence[str], loops: Sequence[float]) -> list[float]:
    heads: dict[str, int] = {}
    tails: dict[int, int] = {}
    for number, line in enumerate(lines):
        if label := LABEL.match(line):
            heads[label.group(1)] = number
        elif (branch := BRANCH.search(line)) and branch.group(1) in heads:
            tails[heads[branch.group(1)]] = number
    often = [1.0] * len(lines)
    for place, head in enumerate(sorted(tails)):
        turns = loops[place] if place < len(loops) else 1.0
        for number in range(head, tails[head] + 1):
            often[number] *= turns
    return often


def _statement(line: str) -> Issued:
    found = STATEMENT.match(line)
    if not found:
        return Issued()
    op = found.group(1)
    if op.startswith("bar.sync"):
        return Issued(1.0, barriers=1.0)
    if op.startswith(("ld.global", "st.global", "ld.shared", "st.shared", "cp.async.c", "atom")):
        moved = float(LANES * _bytes(op, line))
        if ".shared" in op and not op.startswith("cp"):
            return Issued(1.0, shared_bytes=moved)
        return Issued(1.0, global_bytes=moved, global_accesses=1.0)
    if op.split(".")[0] in DIRECTIVES or op.startswith("."):
        return Issued()
    special = 1.0 if SPECIAL.match(op) else 0.0
    return Issued(next((cost for kind, cost in SEVERAL if kind.search(op)), 1.0), special)


def _bytes(op: str, line: str) -> int:
    if op.startswith("cp.async"):
        size = COPIED.search(line)
        return int(size.group(1), 0) if size else 16
    width = WIDTH.search(op)
    return int(width.group(1) or 1) * int(width.group(2)) // 8 if width else 4
