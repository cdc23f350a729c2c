"""Structure `one_pass`: a whole row is read once and stays in registers."""

from typing import Any

from egg.tools.expert.rows import body
from egg.tools.expert.rows.host import Host, kernel
from egg.tools.expert.rows.tile import Tile

TITLES = {
    "row": "One row a program, kept in registers.",
    "rows": "ROWS rows a program, kept in registers.",
    "columns": "LANES rows a program, side by side in memory, kept in registers.",
}


def write(tile: Tile, host: Host, memory: dict[str, Any], persistent: bool) -> str:
    """Kernel and host function. The block is the row's length, rounded up when the host is called."""
    if persistent:
        text, constants = _persistent(tile, memory)
    else:
        text = [*tile.place(), *tile.columns(), tile.inside, *body.at_once(tile)]
        constants = tile.constants
    program = tile.program
    pointers = [o.name for o in program.operands] + [r.tensor for r in program.results]
    source = kernel(tile, "kernel", pointers, ["BLOCK", *constants], text, TITLES[tile.form])
    across = f', LANES=min({host.meta}["LANES"], triton.next_power_of_2(lanes))' if tile.form == "columns" else ""
    meta = f"meta = dict({host.meta}, BLOCK=triton.next_power_of_2(cols){across})"
    call = meta + "\n" + host.launch(source, grid(tile, persistent))
    return source + "\n\n" + host.write([call], tile.sizes())


def grid(tile: Tile, persistent: bool = False) -> str:
    """Number of programs, as the host computes it."""
    if tile.form == "row":
        return "rows"
    if tile.form == "columns":
        across = 'triton.cdiv(lanes, meta["LANES"])'
        return f"outers * {across}" if tile.kept else across
    tiles = 'triton.cdiv(rows, meta["ROWS"])'
    return f'min({tiles}, meta["PROGRAMS"])' if persistent else tiles


def _persistent(tile: Tile, memory: dict[str, Any]) -> tuple[list[str], list[str]]:
    """A fixed number of programs goes over all rows; what all rows share is loaded once."""
    shared = body.shared_operands(tile)
    steps = "tl.program_id(0), tl.cdiv(rows, ROWS), PROGRAMS"
    stages = memory.get("num_stages", 1) > 1
    head = f"for tile in tl.range({steps}, num_stages=STAGES):" if stages else f"for tile in range({steps}):"
    inner = [*tile.place(persistent=True), tile.inside, *body.at_once(tile, frozenset(o.name for o in shared))]
    text = [*tile.columns(), *(tile.load(o) for o in shared), head, *body.indented(inner)]
    return text, ["ROWS", "PROGRAMS", *(["STAGES"] if stages else [])]
