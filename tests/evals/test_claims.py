"""Four commands in one line, each within the time that is left."""

import sys
from pathlib import Path

import pytest

from egg.evals import claims
from egg.evals.claims import COMMANDS, ENDED, LATE, command, run


def test_every_command_is_there_and_has_its_own_file(tmp_path: Path) -> None:
    lines = [command(name, tmp_path, plot=True) for name in COMMANDS]
    assert all((Path(claims.__file__).parent / f"{name}.py").exists() for name in COMMANDS)
    assert len({line[line.index("--out") + 1] for line in lines}) == len(COMMANDS)
    assert ["--plot" in line for line in lines] == [name == "estimator" for name in COMMANDS]


@pytest.mark.parametrize(
    ("program", "seconds", "end"),
    [("pass", 30.0, ENDED), ("import time; time.sleep(60)", 0.5, LATE), ("pass", 0.0, LATE)],
)
def test_a_command_ends_in_time(
    program: str, seconds: float, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "command", lambda *_: [sys.executable, "-c", program])
    assert run("estimator", tmp_path, False, seconds) == end


def test_what_is_not_as_claimed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "command", lambda *_: [sys.executable, "-c", "raise SystemExit(1)"])
    assert run("denied", tmp_path, False, 30.0).startswith("not as claimed")
