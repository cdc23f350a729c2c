"""The statements inside a row kernel: a whole row at once, or one reading of it piece by piece."""

from egg.tools.expert.rows import statistics
from egg.tools.expert.rows.program import Operand, Point, Program
from egg.tools.expert.rows.statistics import Slots
from egg.tools.expert.rows.tile import Tile

INDENT = "    "


def indented(lines: list[str], by: int = 1) -> list[str]:
    return [INDENT * by + line if line else line for line in lines]


def row_loads(tile: Tile) -> list[str]:
    """Operands with one value for each row."""
    return [tile.load(o) for o in tile.program.operands if o.name not in tile.program.full]


def shared_operands(tile: Tile) -> list[Operand]:
    """Operands that are the same for all rows, such as a norm's weight."""
    return [o for o in tile.program.operands if o.axes and all(a in tile.reduced for a in o.axes)]


def at_once(tile: Tile, loaded: frozenset[str] = frozenset()) -> list[str]:
    """Load, compute and store whole rows; `loaded` operands are there already."""
    program = tile.program
    lines = [tile.load(o) for o in program.operands if o.name not in loaded]
    clean = {o.name for o in program.operands if tile.mask(o.axes) == "inside" and "float" in o.register}
    for step in program.steps:
        if isinstance(step, Point):
            lines += step.lines
        else:
            lines += statistics.at_once(step, tile, exact=step.of in clean)
    return lines + [tile.store(result) for result in program.results]


def row_points(program: Program, level: int) -> list[str]:
    """Pointwise steps on values of whole rows, once the statistics up to this level are known."""
    return [
        line
        for step in program.steps
        if isinstance(step, Point) and step.name not in program.full and program.level[step.name] == level
        for line in step.lines
    ]


def reading(tile: Tile, level: int, head: str, first: str, hint: str = "") -> list[str]:
    """Read the row once for its statistics of this level. `head` is the loop's first line, `first` its first column."""
    program = tile.program
    stats = [s for s in program.statistics if program.level[s.names[0]] == level]
    lines = [line for s in stats for line in statistics.begin(s, tile, program.compensated)]
    pieces = f"start // {tile.inner} + 1" if first == "0" else f"(start - {first}) // {tile.inner} + 1"
    inner = full_steps(tile, {name for s in stats for name in s.needs}, hint)
    inner += [line for s in stats for line in statistics.update(s, tile, program.compensated, pieces)]
    return [*lines, head, *indented([*tile.columns("start"), tile.inside, *inner])]


def settle(tile: Tile, level: int, slots: Slots) -> list[str]:
    """Put the slots of a reading together, then compute what rests on the statistics of this level."""
    program = tile.program
    stats = [s for s in program.statistics if program.level[s.names[0]] == level]
    lines = []
    for stat in stats:
        lines += statistics.gather(stat, tile, program.compensated, slots, wide=program.precise)
        if stat.kind == "sum" and program.precise:
            lines.append(f"{stat.names[0]} = {stat.names[0]}.to({program.accumulator})")
    return lines + row_points(program, level)


def writing(tile: Tile, head: str, hint: str = "") -> list[str]:
    """Read the row a last time and store the results that have a value for each column."""
    program = tile.program
    inner = full_steps(tile, {r.value for r in program.full_results}, hint)
    inner += [tile.store(result) for result in program.full_results]
    return [head, *indented([*tile.columns("start"), tile.inside, *inner])]


def full_steps(tile: Tile, names: set[str], hint: str) -> list[str]:
    """Loads and pointwise steps that these full values need."""
    program = tile.program
    wanted = program.needed(names)
    lines = [tile.load(o, hint if len(o.axes) > 1 else "") for o in program.operands if o.name in wanted]
    points = [s for s in program.steps if isinstance(s, Point) and s.name in wanted]
    return lines + [line for step in points for line in step.lines]
