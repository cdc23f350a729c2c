"""Problem files and ways to call the command."""

import atexit
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from egg import cli

ROOT = Path(__file__).parents[2]
GOOD = '''"""Scaled SiLU."""

import torch

ROWS = 2048
COLS = 1000


class Model(torch.nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(cols))

    def forward(self, x):
        return torch.nn.functional.silu(x * self.weight)


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return [COLS]
'''


def problem(folder: Path, source: str = GOOD, name: str = "toy") -> Path:
    """A problem file."""
    path = folder / f"{name}.py"
    path.write_text(source)
    return path


def egg(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """Run the command in this process; its exit code."""
    monkeypatch.setattr(sys, "argv", ["egg", *map(str, arguments)])
    try:
        cli.main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _as_at_a_terminal() -> None:
    """Tests may run in the background of a shell, where Ctrl-C is ignored, and so it would be in what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def spawn(folder: Path, *arguments: object, **environment: str) -> "subprocess.Popen[str]":
    """Run the command in a process and a session of its own, with its runs in `folder`."""
    own = {"EGG_RUNS_DIR": str(folder / "runs"), "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "egg", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **own, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_as_at_a_terminal,
    )
    atexit.register(process.kill)  # a test that fails half-way leaves nobody behind
    return process


def finish(process: "subprocess.Popen[str]", seconds: float = 500) -> tuple[int, str, str]:
    """Exit code, output and errors of a command when it has ended."""
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err
