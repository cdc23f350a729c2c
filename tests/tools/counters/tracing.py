"""Child task: what is kept of a profiler's trace of a pass."""

from typing import Any

from egg.tools.tasks.passes import after_the_flush
from egg.tools.tasks.share import activities


def kept(payload: dict[str, Any]) -> dict[str, Any]:
    """The activities of these events, or why there are none."""
    try:
        return {"activity": activities(after_the_flush(payload["events"]))}
    except RuntimeError as error:
        return {"why": str(error)}
