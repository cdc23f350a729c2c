"""Structure `split`: few and very long rows, each shared out to several programs.

One kernel for each level of statistics leaves what it found in its part of a row in memory; the next kernel puts the
parts together before it goes on. Parts are put together in a fixed order, without atomics: the result is repeatable.
"""

from typing import Any

from egg.tools.expert.rows import body, statistics
from egg.tools.expert.rows.host import Host, kernel
from egg.tools.expert.rows.looped import blocks, hints
from egg.tools.expert.rows.program import Statistic
from egg.tools.expert.rows.statistics import Slots
from egg.tools.expert.rows.tile import Tile
from egg.tools.expert.rows.whole import grid


def write(tile: Tile, host: Host, memory: dict[str, Any]) -> str:
    """Kernels and host function."""
    program = tile.program
    inputs = [o.name for o in program.operands]
    sources: list[str] = []
    calls: list[str] = []
    parts: list[str] = []
    constants = ["BLOCK", *tile.constants, "SPLITS"]
    for level in range(1, program.depth + 1):
        sums = [f"{s.names[0]}_sums" for s in _at(tile, level) if s.kind == "sum" and program.compensated]
        new = [value for s in _at(tile, level) for value in statistics.running(s)]
        suffix = f"part_{level}" if program.depth > 1 else "part"
        text, title = _part(tile, level, memory), f"{_what(level)} of a part of a row."
        sources.append(kernel(tile, suffix, [*inputs, *parts, *new], constants, text, title))
        calls += [_allocate(value, tile, host, wide=value in sums) for value in new]
        calls.append(host.launch(sources[-1], f"{grid(tile)}, splits"))
        parts += new
    pointers = [*inputs, *parts, *(r.tensor for r in program.results)]
    whole = bool(program.full_results)
    title = "The results of a part of a row." if whole else "Put the parts of each row together."
    sources.append(kernel(tile, "finish", pointers, constants, _finish(tile, memory), title))
    calls.append(host.launch(sources[-1], grid(tile) + (", splits" if whole else "")))
    shares = [
        host.fitted(blocks(tile)),
        'span = triton.cdiv(triton.cdiv(cols, meta["SPLITS"]), meta["BLOCK"]) * meta["BLOCK"]',
        "splits = triton.cdiv(cols, span)",
    ]
    return "\n\n".join([*sources, host.write([*shares, *calls], tile.sizes())])


def _part(tile: Tile, level: int, memory: dict[str, Any]) -> list[str]:
    """Statistics of this level over the columns from `first` to `last`."""
    program = tile.program
    text = [*tile.place(), *_range(), *_known(tile, level - 1)]
    text += body.reading(tile, level, "for start in range(first, last, BLOCK):", "first", hints(memory)[0])
    slots = Slots(f"(last - first - {tile.steps} + BLOCK - 1) // BLOCK", "(last - first)")
    for stat in _at(tile, level):
        text += statistics.gather(stat, tile, program.compensated, slots, wide=program.compensated)
        text += [
            f"tl.store({value}_ptr + {_slot(tile)}, {name}{_guard(tile)})"
            for value, name in zip(statistics.running(stat), stat.names, strict=True)
        ]
    return text


def _finish(tile: Tile, memory: dict[str, Any]) -> list[str]:
    program = tile.program
    text = [*tile.place(), *(_range() if program.full_results else []), *_known(tile, program.depth)]
    if program.full_results:
        text += body.writing(tile, "for start in range(first, last, BLOCK):", hints(memory)[1])
    stores = [tile.store(result) for result in program.row_results]
    if program.full_results and stores:
        stores = ["if split == 0:", *body.indented(stores)]
    return text + stores


def _known(tile: Tile, upto: int) -> list[str]:
    """What rests on statistics up to this level: read the parts, put them together, go on from there."""
    program = tile.program
    over_parts = Tile(program, tile.form, "SPLITS")
    text = body.row_loads(tile)
    if upto:
        text.append(f"part = {over_parts.steps}")
    text += body.row_points(program, 0)
    for level in range(1, upto + 1):
        for stat in _at(tile, level):
            text += [_load_part(tile, value, absent) for value, absent in statistics.running(stat).items()]
            slots = Slots("tl.minimum(tl.maximum(cols - part * span, 0), span)", "cols")
            text += statistics.gather(stat, over_parts, False, slots)
            if stat.kind == "sum" and program.compensated:
                text.append(f"{stat.names[0]} = {stat.names[0]}.to({program.accumulator})")
        text += body.row_points(program, level)
    return text


def _range() -> list[str]:
    return ["split = tl.program_id(1)", "first = split * span", "last = tl.minimum(first + span, cols)"]


def _slot(tile: Tile, part: str = "split") -> str:
    """Where a part of a row keeps its statistics."""
    if tile.form == "columns":
        return f"(outer * splits + {part}) * lanes + lane" if tile.kept else f"{part} * lanes + lane"
    return f"row * splits + {part}" if tile.kept else part


def _guard(tile: Tile) -> str:
    return ", lane < lanes" if tile.form == "columns" else ""


def _load_part(tile: Tile, value: str, absent: str) -> str:
    mask = "(part < splits) & (lane < lanes)" if tile.form == "columns" else "part < splits"
    return f"{value} = tl.load({value}_ptr + {_slot(tile, 'part')}, {mask}, other={absent})"


def _at(tile: Tile, level: int) -> list[Statistic]:
    return [s for s in tile.program.statistics if tile.program.level[s.names[0]] == level]


def _allocate(value: str, tile: Tile, host: Host, *, wide: bool) -> str:
    rows = "outers * lanes" if tile.form == "columns" else "rows"
    kind = "int32" if value.endswith("_places") else "float64" if wide else tile.program.accumulator.removeprefix("tl.")
    return f"{value} = torch.empty({rows} * splits, dtype=torch.{kind}, device={host.device})"


def _what(level: int) -> str:
    return "The statistics" if level == 1 else "The statistics that rest on the earlier ones,"
