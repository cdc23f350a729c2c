"""What an agent leaves in a checkpoint: records of the right types, and not much of them."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_strict_msgpack_gives_every_type_back(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.agents.checkpointed", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Blocked deserialization" not in done.stderr
