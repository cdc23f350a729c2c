"""Statistics of a row as Triton statements: at once, running along the row, and from the parts of a split row.

A running statistic keeps one value for each slot of the tile, so that a step along the row needs no exchange between
threads; the slots are put together once, at the end. The same formulas put the parts of a split row together.
"""

from dataclasses import dataclass

from egg.tools.expert.rows.program import Statistic
from egg.tools.expert.rows.tile import Tile

LOWEST = "-3.4028234663852886e38"
"""Start of a running maximum that is subtracted from: with -inf, an empty slot would give inf - inf."""


@dataclass(frozen=True)
class Slots:
    """What lies in the slots that are put together: their number of columns, as an expression."""

    count: str
    total: str


def inside(value: str, otherwise: str) -> str:
    """The value within the row, a neutral one in the tile's tail."""
    return f"tl.where(inside, {value}, {otherwise})"


def at_once(stat: Statistic, tile: Tile, exact: bool) -> list[str]:
    """From a whole row in registers. `exact`: the loaded tail is zero already."""
    name = stat.names[0]
    if stat.kind == "sum":
        value = stat.of if exact else inside(stat.of, "0.0")
        if tile.program.precise:
            return [f"{name} = {tile.reduce('sum', f'{value}.to(tl.float64)')}.to({_type(tile)})"]
        return [f"{name} = {tile.reduce('sum', value)}"]
    if stat.kind in ("max", "min"):
        return _extremum(stat.kind, name, inside(stat.of, _infinity(stat.kind)), tile)
    if stat.kind in ("argmax", "argmin"):
        best, place = stat.names
        op = stat.kind[3:]
        return [
            f"{best}_from = {inside(stat.of, _infinity(op))}",
            f"{best} = {tile.reduce(op, f'{best}_from')}",
            f"{place} = {tile.reduce('min', f'tl.where({best}_from == {best}, col, cols)')}",
        ]
    raise ValueError(f"{stat.kind} is for rows that are read piece by piece")


def begin(stat: Statistic, tile: Tile, compensated: bool) -> list[str]:
    """The running values before the first piece."""
    full = f"tl.full({tile.shape}, {{}}, {_type(tile)})"
    zeros = full.format("0.0")
    one = stat.names[0]
    if stat.kind == "sum":
        return [f"{one}_sums = {zeros}"] + ([f"{one}_lost = {zeros}"] if compensated else [])
    if stat.kind in ("max", "min"):
        return [f"{one}_best = {full.format(_infinity(stat.kind))}"]
    if stat.kind == "moments":
        return [f"{one}_means = {zeros}", f"{stat.names[1]}_sums = {zeros}"]
    if stat.kind == "softmax":
        return [f"{one}_best = {full.format(LOWEST)}", f"{stat.names[1]}_sums = {zeros}"]
    return [
        f"{one}_best = {full.format(_infinity(stat.kind[3:]))}",
        f"{stat.names[1]}_places = tl.full({tile.shape}, 0, tl.int32)",
    ]


def update(stat: Statistic, tile: Tile, compensated: bool, pieces: str) -> list[str]:
    """Take one more piece of the row in; `pieces` is its number, from one."""
    one, other = stat.names[0], stat.names[-1]
    if stat.kind == "sum" and not compensated:
        return [f"{one}_sums += {inside(stat.of, '0.0')}"]
    if stat.kind == "sum":
        return [
            f"term = {inside(stat.of, '0.0')}",
            f"raised = {one}_sums + term",
            f"taken = raised - {one}_sums",
            f"{one}_lost += ({one}_sums - (raised - taken)) + (term - taken)  # what rounding drops (two-sum)",
            f"{one}_sums = raised",
        ]
    if stat.kind in ("max", "min"):
        value = inside(stat.of, _infinity(stat.kind))
        return [f"{one}_best = tl.{stat.kind}imum({one}_best, {value}, propagate_nan=tl.PropagateNan.ALL)"]
    if stat.kind == "moments":
        return [
            f"value = {inside(stat.of, f'{one}_means')}",
            f"change = value - {one}_means",
            f"{one}_means += change / ({pieces})  # Welford's update",
            f"{other}_sums += change * (value - {one}_means)",
        ]
    if stat.kind == "softmax":
        return [
            f"value = {inside(stat.of, _infinity('max'))}",
            f"best = tl.maximum({one}_best, value)",
            f"{other}_sums = {other}_sums * tl.exp({one}_best - best) + tl.exp(value - best)  # online softmax",
            f"{one}_best = best",
        ]
    op = stat.kind[3:]
    return [
        f"value = {inside(stat.of, _infinity(op))}",
        f"better = value {'>' if op == 'max' else '<'} {one}_best",
        f"{other}_places = tl.where(better, col, {other}_places).to(tl.int32)",
        f"{one}_best = tl.where(better, value, {one}_best)",
    ]


def gather(stat: Statistic, tile: Tile, compensated: bool, slots: Slots, *, wide: bool = False) -> list[str]:
    """The statistic of the row from the running values. `wide`: sums leave in float64, to be added to others."""
    one, other = stat.names[0], stat.names[-1]
    if stat.kind == "sum":
        sums = f"{one}_sums.to(tl.float64)" if wide else f"{one}_sums"
        if compensated:
            sums = f"{sums} + tl.where({one}_lost == {one}_lost, {one}_lost, 0.0)"  # NaN where the sum overflowed
        return [f"{one} = {tile.reduce('sum', sums)}"]
    if stat.kind in ("max", "min"):
        return _extremum(stat.kind, one, f"{one}_best", tile)
    if stat.kind == "moments":
        mean = tile.reduce("sum", f"{one}_count * {one}_means")
        apart = f"{one}_means - {one}"
        return [
            f"{one}_count = {slots.count}",
            f"{one} = {_divide(mean, slots.total, tile)}",
            f"{other} = {tile.reduce('sum', f'{other}_sums + {one}_count * ({apart}) * ({apart})')}",
        ]
    if stat.kind == "softmax":
        return [
            f"{one} = {tile.reduce('max', f'{one}_best')}",
            f"{other} = {tile.reduce('sum', f'{other}_sums * tl.exp({one}_best - {one})')}",
        ]
    return [
        f"{one} = {tile.reduce(stat.kind[3:], f'{one}_best')}",
        f"{other} = {tile.reduce('min', f'tl.where({one}_best == {one}, {other}_places, 2147483647)')}",
    ]


def running(stat: Statistic) -> dict[str, str]:
    """The running values that describe a part of a split row, each with what an absent part holds."""
    one, other = stat.names[0], stat.names[-1]
    if stat.kind == "sum":
        return {f"{one}_sums": "0.0"}
    if stat.kind in ("max", "min"):
        return {f"{one}_best": _infinity(stat.kind)}
    if stat.kind == "moments":
        return {f"{one}_means": "0.0", f"{other}_sums": "0.0"}
    if stat.kind == "softmax":
        return {f"{one}_best": LOWEST, f"{other}_sums": "0.0"}
    return {f"{one}_best": _infinity(stat.kind[3:]), f"{other}_places": "2147483647"}


def _divide(value: str, by: str, tile: Tile) -> str:
    """Correctly rounded: `/` may be two units off in fp32, which alone would double the error of a mean."""
    return f"tl.div_rn({value}, {by} + 0.0)" if _type(tile) == "tl.float32" else f"{value} / {by}"


def _extremum(op: str, name: str, value: str, tile: Tile) -> list[str]:
    """A NaN in the row is its extremum, as in PyTorch; Triton's own reduction drops it."""
    broken = tile.reduce("max", f"({name}_from != {name}_from).to(tl.int32)")
    return [
        f"{name}_from = {value}",
        f"{name} = {tile.reduce(op, f'{name}_from')}",
        f'{name} = tl.where({broken} > 0, float("nan"), {name})',
    ]


def _infinity(op: str) -> str:
    return 'float("-inf")' if op == "max" else 'float("inf")'


def _type(tile: Tile) -> str:
    return tile.program.accumulator
