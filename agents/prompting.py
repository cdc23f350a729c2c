"""Prompts: Jinja files, rendered strictly, so that a misspelt variable fails at once."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_PROMPTS = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "prompts"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,  # the reader is a model, not a browser
)


def render(name: str, **values: Any) -> str:
    """The text of `prompts/NAME.md.j2`."""
    return _PROMPTS.get_template(f"{name}.md.j2").render(values).strip()
