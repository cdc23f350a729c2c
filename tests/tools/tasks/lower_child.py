"""Run in a child, which alone loads Triton."""

from typing import Any

from egg.tools.tasks.lower import numbered


def number(payload: dict[str, Any]) -> dict[str, Any]:
    """Text and lines of an IR text whose candidate is `/scratch/candidate.py`."""
    text, lines = numbered(payload["ttir"], "/scratch/candidate.py")
    return {"text": text, "lines": lines}
