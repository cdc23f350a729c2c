"""Printing a search, and writing its kernel."""

import sys
from collections.abc import Iterator
from pathlib import Path

from rich.table import Table
from rich.text import Text

from egg.results import console
from egg.state.errors import UserError
from egg.state.evaluation import Evaluation
from egg.state.search import Point, SearchResult, spelled
from egg.tools.report import milliseconds
from egg.tools.tune.file import Tuned


def print_tuned(tuned: Tuned, *, as_json: bool) -> None:
    """The points as a table and the choice, or one JSON value on stdout."""
    if as_json:
        sys.stdout.write(tuned.model_dump_json(indent=2) + "\n")
        return
    if tuned.result:
        console.print(_points(tuned.result))
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, told in rows(tuned):
        table.add_row(name, Text(told))
    console.print(table)


def write_kernel(tuned: Tuned, out: str, *, quiet: bool) -> None:
    """The kernel to keep.

    Raises:
        UserError: the file cannot be written.
    """
    try:
        Path(out).write_text(tuned.source, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{out}: cannot be written: {error.strerror}") from None
    if not quiet:
        console.print(f"Written: {out}", soft_wrap=True)


def rows(tuned: Tuned) -> Iterator[tuple[str, str]]:
    """What stands below the table, line by line."""
    result = tuned.result
    if result is None:
        yield "Search", "nothing to choose: the kernel has no constants, tables or configurations that look tunable"
        return
    yield "Search", f"{result.told()}; {result.seconds:.1f} s"
    for reason in tuned.dropped:
        yield "Turned down", reason
    yield "Before", _time(tuned.before)
    if tuned.after:
        yield "Choice", spelled(tuned.choice)
        yield "After", _time(tuned.after)
    else:
        yield "Choice", "the kernel as it is"


def _points(result: SearchResult) -> Table:
    table = Table(box=None, pad_edge=False)
    for parameter in result.space.parameters:
        table.add_column(parameter.name.rpartition(".")[2], justify="right")
    for name in ("Registers", "Spills", "Shared", "Estimate", "Timed"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Outcome", overflow="fold")
    best = result.best
    for point in sorted(result.points, key=_order):
        values = [str(point.values[parameter.name]) for parameter in result.space.parameters]
        numbers = [point.registers, point.spills, point.shared_bytes]
        figures = ["–" if number is None else str(number) for number in numbers]
        times = [milliseconds(point.estimate_ms), milliseconds(point.median_ms)]
        outcome = f"{point.status}{f': {point.why}' if point.why else ''}"
        table.add_row(*values, *figures, *times, outcome, style="bold" if point is best else "")
    return table


def _order(point: Point) -> tuple[bool, float, float]:
    longest = float("inf")
    return not point.alive, point.median_ms or longest, point.estimate_ms or longest


def _time(evaluation: Evaluation) -> str:
    if timing := evaluation.timing:
        return f"{milliseconds(timing.median_ms)} ({timing.samples} samples)"
    profile = evaluation.profile
    return f"{milliseconds(profile.estimate_ms)}, predicted for {profile.target}" if profile else "no time"
