"""Child task: let Nsight Compute profile one forward pass of a candidate, in this very sandbox."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import egg

CALL, LOG, PRINTED = "call.json", "counters.csv", "printed.txt"
MOST_LOG, MOST_PRINTED = 16 << 20, 64 << 10


def collect(payload: dict[str, Any]) -> dict[str, Any]:
    """Run it once.

    Args:
        payload: `command` that starts the profiler, whose log file is `LOG`; `environment`, what is added to ours;
            `seconds`; and of the call `problem`, `source`, `policy`, `seed`.

    Returns:
        `log` (with the table in it), `printed`, and its exit `code`, None if it took too long.
    """
    call = {name: payload[name] for name in ("problem", "source", "policy", "seed")}
    Path(CALL).write_text(json.dumps(call))
    _find_ourselves()
    program = [sys.executable, "-m", "egg.tools.tasks.counted", CALL]
    with open(PRINTED, "wb") as printed:
        process = subprocess.Popen(
            [*payload["command"], *program],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            env={**os.environ, **payload["environment"]},
        )
        try:
            code: int | None = process.wait(payload["seconds"])
        except subprocess.TimeoutExpired:
            code = None  # it and all it started end with this sandbox
    return {"log": _text(LOG, MOST_LOG), "printed": _text(PRINTED, MOST_PRINTED), "code": code}


def _find_ourselves() -> None:
    """A fresh Python finds this package here: it may not look through the folder that the package lies in."""
    place = Path("egg")
    if not place.is_symlink():
        place.symlink_to(Path(egg.__file__).resolve().parent)


def _text(path: str, most: int) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(most).decode(errors="replace")
    except OSError:
        return ""
