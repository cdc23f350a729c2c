"""The command and a run that asks: `--answer`, the terminal, and what is said when nobody is there."""

import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from egg.graph.checkpointing import open_saver
from egg.tools.folders import CHECKPOINT
from tests.cli.make import ROOT, egg, finish, problem, spawn
from tests.graph.paused import Paused, Scripted


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A run of two seeds, each of which waits for an answer on its decision."""
    Scripted().play(monkeypatch)
    (run := tmp_path / "asking").mkdir()
    with open_saver(run / CHECKPOINT) as saver:
        Paused(run, saver).begin(pause="decisions")
    return run


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Run the command: its exit code, its output, its errors."""

    def run(*arguments: object) -> tuple[int, str, str]:
        return (egg(monkeypatch, *arguments), *capsys.readouterr())

    return run


def test_without_a_terminal_the_questions_are_shown_and_the_command_that_goes_on(folder, command):
    code, out, err = command("resume", folder)
    assert code == 3
    assert "seed-1 kept: change 0 of seed-1. Shall it stand?" in out and "refuse [WHY]" in out
    assert str(folder / "kernels") in out
    assert f"Go on with: egg resume {folder} --answer seed-1=approve --answer seed-2=approve" in err
    code, out, _ = command("show", folder)
    assert code == 0 and "seed-2 kept: change 0 of seed-2. Shall it stand?" in out and "--answer seed-1=approve" in out


def test_answers_go_to_their_questions_until_the_run_is_over(folder, command):
    code, out, err = command("resume", folder, "--answer", "seed-1=refuse unreadable")
    assert code == 3 and "egg resume" in err and "--answer approve" in err
    assert "Shall it stand?" in out and "seed-1 kept" not in out
    code, out, _ = command("resume", folder, "--answer", "edit halves = sizes / 2")
    assert code == 3 and "choose chosen" in out
    code, out, _ = command("resume", folder, "--no-pause")
    assert code == 0 and "seed-1   refused" in out and "halves = sizes / 2" in out
    assert "edited by a person, was: change 0 of seed-2" in " ".join(out.split())
    assert (folder / "kernel.py").exists()


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        (["approve"], "say which question it is to, as --answer seed-1=approve --answer seed-2=approve"),
        (["seed-3=approve"], "say which question it is to"),
        (["seed-1=perhaps"], "`perhaps` is no answer; possible here: approve, edit, refuse, hint"),
        (["seed-1=approve", "seed-1=refuse"], "seed-1 has an answer already"),
        (['seed-1={"action": "hint"}'], "a hint needs its text"),
    ],
)
def test_an_impossible_answer_is_one_line_and_changes_nothing(folder, command, answers, says):
    code, _, err = command("resume", folder, *(part for answer in answers for part in ("--answer", answer)))
    assert code == 2 and err.startswith("egg: ") and err.count("\n") == 1 and says in err
    with open_saver(folder / CHECKPOINT) as saver:
        assert set(Paused(folder, saver).questions) == {"seed-1", "seed-2"}


def test_nothing_is_asked(folder, command):
    command("resume", folder, "--no-pause")
    code, _, err = command("resume", folder, "--answer", "approve")
    assert code == 2 and err.count("\n") == 1


def test_in_a_terminal_everything_is_asked_again_until_it_is_answered(folder, command, monkeypatch):
    lines = iter(["what?", "refuse", "a", "approve", "hint", *["approve"] * 5])
    asked: list[str] = []
    monkeypatch.setattr("egg.answering.at_terminal", lambda: True)
    monkeypatch.setattr("egg.drive.at_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: asked.append(prompt) or next(lines))
    code, out, _ = command("resume", folder)
    assert code == 0, out
    stages = ["seed-1", "seed-1", "seed-2", "choose", "mapping", "mapping", "tiling", "memory", "confirm"]
    assert asked == [f"{stage}> " for stage in stages]
    assert "`what?` is no answer" in out and "a hint needs its text" in out and "seed-1   refused" in out


def test_whoever_closes_the_terminal_is_told_how_to_go_on(folder, command, monkeypatch):
    def closed(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("egg.answering.at_terminal", lambda: True)
    monkeypatch.setattr("egg.drive.at_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", closed)
    code, out, err = command("resume", folder)
    assert code == 3 and out.count("seed-1 kept: change 0 of seed-1. Shall it stand?") == 1 and "egg resume" in err


def test_an_unknown_kind_of_pause_is_refused(tmp_path, command):
    code, _, err = command("optimize", problem(tmp_path), "--model", "rulebook", "--pause", "sometimes")
    assert code == 2 and "--pause" in err and "'stages'" in err and err.count("\n") == 1


@pytest.mark.slow
def test_at_a_real_terminal(folder):
    """A pseudo-terminal, the live view, and somebody who types."""
    script = (
        "import sys, pytest; from egg.cli import main; from tests.graph.paused import Scripted\n"
        f"Scripted().play(pytest.MonkeyPatch()); sys.argv = ['egg', 'resume', {str(folder)!r}]; main()"
    )
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "120"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    said = [("seed-1", "hint go wide"), ("seed-2", "refuse"), ("seed-1", "approve"), ("choose", "approve")]
    said += [("mapping", "edit ours"), ("tiling", "approve"), ("memory", "approve"), ("confirm", "approve")]
    screen = ""
    try:
        for stage, answer in said:
            screen += read_until(ours, f"{stage}> ")
            os.write(ours, f"{answer}\n".encode())
        screen += read_until(ours, "report.md")
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        os.close(ours)
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen)
    assert "mapping kept: change 0 of mapping. Shall it stand?" in plain and "hint: go wide" in plain
    assert "edited by a person, was: change 0 of mapping" in plain


@pytest.mark.slow
def test_a_run_from_the_command_asks_and_goes_on(tmp_path):
    began = spawn(tmp_path, "optimize", problem(tmp_path), "--model", "rulebook", "--pause", "stages", "--seeds", "1")
    code, out, err = finish(began)
    assert code == 3 and "seed-1 is about to start. Shall it?" in out
    (folder,) = (tmp_path / "runs").iterdir()
    assert f"Go on with: egg resume {folder.name} --answer approve" in err
    assert not (folder / "kernels").exists()
    code, out, err = finish(spawn(tmp_path, "resume", folder.name, "--answer", "refuse not today"))
    assert code == 0, err
    assert "skipped: seed-1 left out" in out and "refused by a person (not today)" in out
    assert "refused by a person" in (folder / "report.md").read_text()


def read_until(terminal: int, text: str, seconds: float = 200) -> str:
    """What the terminal shows, up to this text."""
    shown, end = "", time.monotonic() + seconds
    while text not in shown:
        assert time.monotonic() < end, shown
        shown += os.read(terminal, 4096).decode(errors="replace")
    return shown
