"""What a person can get wrong: one line that says what to do, exit code 2, nothing written."""

from pathlib import Path

import pytest

from tests.cli.make import GOOD, egg, problem

OTHER_NAME = GOOD.replace("class Model(", "class Net(").replace("Scaled", "No Model:")


@pytest.fixture
def runs(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "runs"
    monkeypatch.setenv("EGG_RUNS_DIR", str(folder))
    return folder


def refused(monkeypatch, capsys, *arguments) -> str:
    """The one line that the command ends with."""
    code = egg(monkeypatch, *arguments)
    error = capsys.readouterr().err
    assert code == 2, error
    assert error.startswith("egg: ") and error.count("\n") == 1, error
    return error


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (GOOD.replace("def forward(self, x):", "def forward(self, x"), "line"),
        (OTHER_NAME, "Model"),
        (GOOD.replace("def get_inputs", "def make_inputs"), "get_inputs"),
        (GOOD.replace("return [torch.randn(ROWS, COLS)]", "raise RuntimeError('no data')"), "no data"),
        (GOOD.replace("return [torch.randn(ROWS, COLS)]", "return [3]"), "tensor"),
        (GOOD.replace("x * self.weight", "x @ self.weight.reshape(2, -1)"), "reference fails"),
        (GOOD + "\n\nraise SystemExit(0)\n", "fails when it is loaded"),
    ],
    ids=["syntax error", "no Model", "no get_inputs", "get_inputs raises", "no tensor", "reference fails", "exits"],
)
def test_a_problem_that_cannot_be_loaded(source, says, tmp_path, runs, monkeypatch, capsys):
    path = problem(tmp_path, source)
    line = refused(monkeypatch, capsys, "optimize", path, "--model", "rulebook")
    assert says in line
    assert not runs.exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--target", "sm_77"], "'sm_90'"),
        (["--policy", "exact"], "'ieee'"),
        (["--seeds", "0"], "--seeds"),
        (["--max-minutes", "0"], "--max-minutes"),
        (["--model", "gpt-9"], "rulebook"),
        (["--model", "openai:gpt-5.1"], "OPENAI_API_KEY"),
        (["--model", "openai:local", "--base-url", "http://127.0.0.1:9/v1"], "--base-url"),
        (["--model", "openai:local", "--base-url", "localhost"], "--base-url"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_option_that_cannot_be(options, says, tmp_path, runs, monkeypatch, capsys):
    path = problem(tmp_path)
    model = [] if "--model" in options else ["--model", "rulebook"]
    assert says in refused(monkeypatch, capsys, "optimize", path, *model, *options)
    assert not runs.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["optimize", "--modle", "rulebook", "x.py"], "--modle"),
        (["optimize"], "PROBLEM"),
        (["optimize", "x.py", "--seeds", "two"], "--seeds"),
        (["optimise"], "optimise"),
        (["check", "x.py"], "KERNEL"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_that_cannot_be(arguments, says, runs, monkeypatch, capsys):
    line = refused(monkeypatch, capsys, *arguments)
    assert says in line and "--help" in line and not runs.exists()


def test_a_base_url_needs_a_model(tmp_path, runs, monkeypatch, capsys):
    line = refused(monkeypatch, capsys, "optimize", problem(tmp_path), "--base-url", "http://localhost:1/v1")
    assert "--model" in line and not runs.exists()


@pytest.mark.parametrize("name", ["missing.py", "."])
def test_no_such_file(name, tmp_path, runs, monkeypatch, capsys):
    assert "Model" in refused(monkeypatch, capsys, "optimize", tmp_path / name, "--model", "rulebook")
    assert not runs.exists()


def test_a_run_folder_that_cannot_be_written(tmp_path, runs, monkeypatch, capsys):
    (tmp_path / "file").touch()
    where = tmp_path / "file" / "run"
    line = refused(monkeypatch, capsys, "optimize", problem(tmp_path), "--model", "rulebook", "--run-dir", where)
    assert "--run-dir" in line
    monkeypatch.setenv("EGG_RUNS_DIR", str(tmp_path / "file" / "runs"))
    assert "EGG_RUNS_DIR" in refused(monkeypatch, capsys, "optimize", problem(tmp_path), "--model", "rulebook")


def test_a_run_folder_that_holds_something(tmp_path, runs, monkeypatch, capsys):
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "mine.txt").write_text("keep")
    arguments = ["optimize", problem(tmp_path), "--model", "rulebook", "--run-dir", taken]
    line = refused(monkeypatch, capsys, *arguments)
    assert "give another --run-dir" in line and "egg resume" not in line
    assert [path.name for path in taken.iterdir()] == ["mine.txt"]
    (taken / "run.json").write_text("{}")
    assert "egg resume" in refused(monkeypatch, capsys, *arguments)


def test_a_folder_of_runs_that_cannot_be_written_can_still_be_listed(runs, monkeypatch, capsys):
    folder = runs / "stopped"
    folder.mkdir(parents=True)
    for name in ("run.json", ".lock"):
        (folder / name).write_text("{}")
    monkeypatch.setattr("egg.session.FileLock.acquire", read_only)
    assert egg(monkeypatch, "runs") == 0
    assert "egg resume stopped" in capsys.readouterr().out


def read_only(*_, **__):
    raise OSError(30, "Read-only file system")


@pytest.mark.parametrize("command", ["resume", "show"])
def test_no_such_run(command, runs, monkeypatch, capsys):
    assert "egg runs" in refused(monkeypatch, capsys, command, "nothing-1130")
    assert not runs.exists()


def test_a_damaged_checkpoint(runs, monkeypatch, capsys):
    (runs / "broken").mkdir(parents=True)
    (runs / "broken" / "checkpoint.sqlite").write_text("not a database, and long enough to be seen not to be one" * 20)
    assert "checkpoint.sqlite" in refused(monkeypatch, capsys, "resume", "broken")


def test_the_command_says_when_it_takes_the_rulebook_for_want_of_a_key(tmp_path, runs, monkeypatch, capsys):
    assert egg(monkeypatch, "optimize", tmp_path / "missing.py") == 2
    lines = capsys.readouterr().err.splitlines()
    assert "rulebook" in lines[0] and "OPENAI_API_KEY is not set" in lines[0]
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert egg(monkeypatch, "optimize", tmp_path / "missing.py") == 2
    assert "openai:" in capsys.readouterr().err.splitlines()[0]
