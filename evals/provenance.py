"""Where figures come from: what every results file says of itself, and how it is written."""

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from egg.state.device import Device
from egg.state.settings import Policy


def provenance(command: str, device: Device, policy: Policy) -> dict[str, Any]:
    """Commit, date, command, GPU with driver and versions, and policy."""
    return {
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "command": command,
        "policy": policy.value,
        "device": device.model_dump(mode="json"),
    }


def commit() -> str:
    """The commit of the checkout, `-dirty` appended if it has changes; `unknown` outside one.

    `EGG_COMMIT`, if set, says it for a copy that has lost its history.
    """
    if told := os.environ.get("EGG_COMMIT"):
        return told
    try:
        described = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
        here = Path(__file__).parent
        return subprocess.run(described, cwd=here, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def write_results(out: Path, results: dict[str, Any]) -> None:
    """The file, whole or not at all."""
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f".{out.name}")
    partial.write_text(json.dumps(results, indent=1) + "\n")
    partial.replace(out)
