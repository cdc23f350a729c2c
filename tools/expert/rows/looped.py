"""Structures `online` and `two_pass`: a row is read piece by piece, as often as its statistics build on each other."""

from typing import Any

from egg.tools.expert.rows import body
from egg.tools.expert.rows.host import Host, kernel
from egg.tools.expert.rows.statistics import Slots
from egg.tools.expert.rows.tile import Tile
from egg.tools.expert.rows.whole import grid


def write(tile: Tile, host: Host, memory: dict[str, Any]) -> str:
    """Kernel and host function."""
    program = tile.program
    stages = memory.get("num_stages", 1) > 1
    head = f"for start in {'tl.range' if stages else 'range'}(0, cols, BLOCK{', num_stages=STAGES' if stages else ''}):"
    keep, drop = hints(memory)
    slots = Slots(f"(cols - {tile.steps} + BLOCK - 1) // BLOCK", "cols")
    text = [*tile.place(), *body.row_loads(tile), *body.row_points(program, 0)]
    for level in range(1, program.depth + 1):
        last = level == program.depth and not program.full_results
        text += body.reading(tile, level, head, "0", drop if last else keep)
        text += body.settle(tile, level, slots)
    if program.full_results:
        text += body.writing(tile, head, drop)
    text += [tile.store(result) for result in program.row_results]
    pointers = [o.name for o in program.operands] + [r.tensor for r in program.results]
    constants = ["BLOCK", *tile.constants, *(["STAGES"] if stages else [])]
    readings = program.depth + bool(program.full_results)
    title = "A row is read " + ("once" if readings == 1 else f"{readings} times") + ", BLOCK columns at a time."
    source = kernel(tile, "kernel", pointers, constants, text, title)
    calls = [host.fitted(blocks(tile)), host.launch(source, grid(tile))]
    return source + "\n\n" + host.write(calls, tile.sizes())


def blocks(tile: Tile) -> dict[str, str]:
    """The tunable blocks, each with the size that it runs along."""
    return {"BLOCK": "cols"} | ({"LANES": "lanes"} if tile.form == "columns" else {})


def hints(memory: dict[str, Any]) -> tuple[str, str]:
    """Cache hints of the readings before the last, and of the last."""
    if memory.get("eviction") == "keep":
        return ', eviction_policy="evict_last"', ', eviction_policy="evict_first"'
    return "", ""
