"""The run's report as Markdown."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from egg.state.evaluation import Timing


def milliseconds(value: float | None) -> str:
    """Three significant digits in the unit that suits; a dash for nothing."""
    if value is None:
        return "–"
    return f"{value:.3g} ms" if value >= 0.1 else f"{value * 1000:.3g} µs"


def timing(value: Timing | None) -> str:
    """A measured median with its 20th and 80th percentiles."""
    if value is None:
        return "not measured"
    return f"{milliseconds(value.median_ms)} ({milliseconds(value.p20_ms)} to {milliseconds(value.p80_ms)})"


def quantity(value: float, unit: str) -> str:
    """`1.07 GB`: three significant digits with an SI prefix."""
    for prefix in ("", "k", "M", "G", "T"):
        if abs(value) < 1000 or prefix == "T":
            break
        value /= 1000
    return f"{value:.3g} {prefix}{unit}"


def cell(value: object) -> str:
    """Text that cannot break a Markdown table."""
    return " ".join(str(value).split()).replace("|", "\\|") or "–"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("egg.tools", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters.update(ms=milliseconds, timing=timing, quantity=quantity, cell=cell)
    return environment


def render_report(**parts: Any) -> str:
    """Markdown from the run's records; a misspelt field fails at once."""
    return _environment().get_template("report.md.j2").render(**parts)
