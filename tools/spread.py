"""How far apart the lanes of a warp lie in global memory, read from the layouts in Triton's GPU IR.

A thread that owns 16 neighbouring bytes and cannot fetch them at once (a gather, an unaligned row) fetches them one
element after the other, and each of these accesses touches as many cache lines as the whole would have.
"""

import re
from math import prod

LAYOUT = re.compile(r"^(#\w+) = #ttg\.blocked<\{sizePerThread = \[([\d, ]+)\].*order = \[(\d+)")
ACCESS = re.compile(
    r"(?:tt\.load|tt\.store|ttg\.async_copy_global_to_local)\b.*?tensor<((?:\d+x)+)!tt\.ptr<(\w+)>, (#\w+)>"
)
WIDTH = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i16": 2}  # bytes; anything else is one
WIDEST = 16
LANES = 32
MOST = 8.0


def lines_touched(ttgir: str, bytes_moved: float, accesses: float) -> float:
    """Cache lines that accesses to global memory touch, over what they would if each thread's bytes went at once.

    Args:
        ttgir: of one kernel.
        bytes_moved: what one warp moves with ordinary accesses, bytes.
        accesses: number of its access instructions.
    """
    owned, moved = 0.0, 0.0
    layouts = {found[0]: (found[1], int(found[2])) for line in ttgir.splitlines() if (found := _layout(line))}
    for shape, kind, name in ACCESS.findall(ttgir):
        if name in layouts:
            sizes, fastest = layouts[name]
            elements = prod(int(size) for size in shape.rstrip("x").split("x"))
            each = int(sizes.split(",")[fastest]) * WIDTH.get(kind, 1)
            owned += elements * min(WIDEST, each)
            moved += elements
    if not moved or not accesses:
        return 1.0
    return min(MOST, max(1.0, owned / moved / (bytes_moved / accesses / LANES)))


def _layout(line: str) -> tuple[str, str, str] | None:
    found = LAYOUT.match(line)
    return (found.group(1), found.group(2), found.group(3)) if found else None
