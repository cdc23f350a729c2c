"""Nsight Compute's table as values. The candidate's own processes may have written it: nothing is taken on trust."""

import csv
import re
from collections.abc import Iterator
from math import isfinite

from pydantic import Field

from egg.state.record import Record
from egg.tools.counters.names import ours

MOST_ROWS = 100_000
FIRST, NAME, GRID, LONG = "ID", "Kernel Name", "Grid Size", ("Metric Name", "Metric Value")
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)


class Counted(Record):
    """Counters of one launch, by our names."""

    kernel: str
    grid: tuple[int, ...]
    counters: dict[str, float] = Field(description="What was not read, or is no number, is missing")


def read(text: str) -> tuple[Counted, ...]:
    """Every launch of the raw page, in the order in which they ran; empty if there is no table."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith(f'"{FIRST}",')), None)
    if start is None:
        return ()
    launches: dict[str, tuple[str, tuple[int, ...], dict[str, float]]] = {}
    for row in _rows(lines[start:]):
        if not row.get(FIRST, "").isdecimal() or not row.get(NAME):  # the row of units, or no row at all
            continue
        kernel, grid = plain(row[NAME]), _grid(row.get(GRID, ""))
        values = launches.setdefault(row[FIRST], (kernel, grid, {}))[2]
        if all(column in row for column in LONG):
            pairs = [(row[LONG[0]], row[LONG[1]])]
        else:
            pairs = [(column, value) for column, value in row.items() if "__" in column]
        values |= {name: number for name, value in pairs if (number := _number(value)) is not None}
    return tuple(
        Counted(kernel=kernel, grid=_checked(grid, values), counters=ours(values))
        for kernel, grid, values in launches.values()
    )


def base_name(kernel: str) -> str:
    """Of a kernel's full name the function's own, without what is returned, templates and parameters.

    Two tools write `void at::native::add<float, int>(int)` differently, but agree on `at::native::add`.
    """
    kept, depth = "", 0
    for part in kernel.replace("(anonymous namespace)", "{anonymous}"):
        depth += part in "<("
        kept += part if depth == 0 else ""
        depth -= part in ">)" and depth > 0
    words = kept.split()
    return words[-1] if words else kernel


def plain(name: str) -> str:
    """A kernel's name as a person may see it."""
    return "".join(c for c in name[:200] if c.isprintable())


def _rows(lines: list[str]) -> Iterator[dict[str, str]]:
    try:
        for number, row in enumerate(csv.DictReader(lines)):
            if number >= MOST_ROWS:
                return
            yield {key: value for key, value in row.items() if isinstance(key, str) and isinstance(value, str)}
    except csv.Error:
        return


def _number(text: str) -> float | None:
    if not NUMBER.fullmatch(text.strip()):  # `n/a`, `nan`, empty, several values
        return None
    value = float(text.strip().replace(",", ""))
    return value if isfinite(value) and value >= 0 else None


def _grid(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d{1,10}", text))[:3]


def _checked(grid: tuple[int, ...], values: dict[str, float]) -> tuple[int, ...]:
    """Where no column tells the grid, its size at least."""
    size = values.get("launch__grid_size")
    return grid if grid and all(grid) else (int(size),) if size else ()
