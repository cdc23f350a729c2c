"""Run in children, which alone load PyTorch."""

from typing import Any

import torch

from egg.tools.tasks.module import load_module
from egg.tools.tasks.noted import Noted, _identity


def noted(payload: dict[str, Any]) -> dict[str, Any]:
    """What a forward pass of `source` on real tensors and on those without data was seen to do."""
    model = load_module(payload["source"], "candidate").ModelNew()
    done = []
    for device in ("cpu", "meta"):
        notes = Noted()
        with torch.no_grad(), notes.forward():
            model(torch.ones(3, 5, device=device))
        done.append(sorted(notes.done))
    return {"done": done}


def identified(payload: dict[str, Any]) -> dict[str, Any]:
    """How the function `kernel` of each of some sources is told from others."""
    return {"names": [_identity(load_module(source, "candidate").kernel) for source in payload["sources"]]}
