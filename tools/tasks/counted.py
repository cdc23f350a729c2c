"""The program that Nsight Compute profiles: `python -m egg.tools.tasks.counted CALL.json`.

A fresh process within the candidate's sandbox. Everything is warm before the profiler is told to begin, so that it
sees the kernels of one forward pass and nothing else; of a kernel that is launched again and again, the first few.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from egg.tools.tasks.launches import Launch
from egg.tools.tasks.ready import ready

LAUNCHES = "launches.json"
EACH = 3
"""Launches of one kernel on one grid."""


def main(payload: dict[str, Any]) -> None:
    """One forward pass between the profiler's start and stop; then what was launched, in `LAUNCHES`."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    call, launches = ready(payload, device)
    launches.seen = []
    if device == "cpu":  # in the interpreter, where a stand-in profiles
        call()
    else:
        launches.around = Repeats(torch.cuda.profiler.start, torch.cuda.profiler.stop)
        torch.cuda.profiler.start()  # type: ignore[no-untyped-call]
        call()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()  # type: ignore[no-untyped-call]
    Path(LAUNCHES).write_text(json.dumps(told(launches.seen)))


class Repeats:
    """Pauses the profiler for own launches of a kernel on a grid that it has seen often enough."""

    def __init__(self, resume: Callable[[], Any], pause: Callable[[], Any]) -> None:
        self.resume, self.pause = resume, pause
        self.seen: Counter[tuple[str, tuple[int, ...]]] = Counter()

    def __call__(self, launch: Launch, start: Callable[[], Any]) -> Any:
        self.seen[launch.name, launch.grid] += 1
        if self.seen[launch.name, launch.grid] <= EACH:
            return start()
        self.pause()
        try:
            return start()
        finally:
            self.resume()


def told(seen: list[Launch]) -> list[dict[str, Any]]:
    """Every launch of the pass through Triton, in order."""
    return [launch._asdict() for launch in seen]


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
