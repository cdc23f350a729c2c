"""Renders the Triton sources that kinds keep as templates. A misspelt variable fails at once."""

from functools import cache
from typing import Any

from jinja2 import Environment, StrictUndefined, Template


@cache
def _compiled(text: str) -> Template:
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    return environment.from_string(text)


def render(text: str, **values: Any) -> str:
    """Fill a template; block tags may stand on lines of their own."""
    return _compiled(text).render(**values).strip("\n") + "\n"


def meta_table(region: str, values: dict[str, Any]) -> str:
    """The region's tunables as the module-level table that `kinds` prescribes."""
    inside = ", ".join(f"{name}={value!r}" for name, value in values.items())
    return f"{region.upper()}_META = dict({inside})\n"
