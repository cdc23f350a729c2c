"""Run in children, which alone load PyTorch."""

from typing import Any

import torch

from egg.tools.tasks.launches import Launches
from egg.tools.tasks.tamper import Tampering


def tampered(payload: dict[str, Any]) -> dict[str, Any]:
    """What some code replaced. It is ours, and only this child runs it."""
    Launches()
    tampering = Tampering()
    exec(payload["code"], {"torch": torch})
    return {"found": tampering.found()}
