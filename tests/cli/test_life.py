"""A run from its start over an interruption to its end, as a user sees it."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.make import finish, problem, spawn
from tests.cli.processes import alive, descendants

pytestmark = pytest.mark.slow


def wait_for(process: "subprocess.Popen[str]", beginning: str) -> str:
    """Read the command's lines until one begins so; all of them."""
    assert process.stdout is not None
    read = ""
    for line in process.stdout:
        read += line
        if line.startswith(beginning):
            return read
    raise AssertionError(f"never said {beginning!r}: {read}{process.stderr and process.stderr.read()}")


def test_a_run_to_its_end(tmp_path):
    code, out, err = finish(spawn(tmp_path, "optimize", problem(tmp_path), "--run-dir", "mine", "--model", "rulebook"))
    assert code == 0, err
    assert "Ledger" in out and "confirmed" in out and "kernel.py" in out
    folder = tmp_path / "mine"
    evidence = json.loads((folder / "evidence.json").read_text())
    assert evidence["outcome"]["correct"] and evidence["outcome"]["kernel"]
    kernel = (folder / "kernel.py").read_text()
    assert "class ModelNew" in kernel and "import triton" in kernel and "egg" not in imports(kernel)
    assert (folder / "kernels" / f"{evidence['outcome']['kernel']}.py").read_text() == kernel

    code, _, err = finish(spawn(tmp_path, "resume", folder))
    assert code == 2 and "is finished" in err and err.count("\n") == 1
    code, out, _ = finish(spawn(tmp_path, "show", folder))
    assert code == 0 and evidence["outcome"]["kernel"] in out


def test_ctrl_c_stops_at_once_leaves_nobody_and_resume_goes_on(tmp_path):
    cache = {"EGG_CACHE_DIR": str(tmp_path / "cache")}  # an empty one: there must be something left to interrupt
    (scratch := tmp_path / "scratch").mkdir()
    began = spawn(tmp_path, "optimize", problem(tmp_path), "--model", "rulebook", TMPDIR=str(scratch), **cache)
    run_id = wait_for(began, "seed-1 ...").splitlines()[0].removeprefix("run ")
    code, _, err = finish(spawn(tmp_path, "resume", run_id))
    assert code == 2 and "another process" in err and err.count("\n") == 1
    code, out, _ = finish(spawn(tmp_path, "runs"))
    assert code == 0 and run_id in out and "running" in out

    children = descendants(began.pid)
    assert children
    pressed = time.monotonic()
    began.send_signal(signal.SIGINT)
    code, _, err = finish(began)
    assert time.monotonic() - pressed < 2
    assert code == 130 and f"egg resume {run_id}" in err
    while alive(children) and time.monotonic() - pressed < 2:
        time.sleep(0.02)
    assert not alive(children)
    assert not list(scratch.iterdir())

    code, out, _ = finish(spawn(tmp_path, "show", run_id))
    assert code == 0 and f"egg resume {run_id}" in out
    code, out, err = finish(spawn(tmp_path, "resume", run_id, **cache))
    assert code == 0, err
    assert "confirmed" in out
    done = [json.loads(line) for line in (tmp_path / "runs" / run_id / "journal.jsonl").read_text().splitlines()]
    work = [(entry["kind"], entry["key"]) for entry in done]
    assert len(work) == len(set(work))


@pytest.mark.parametrize("after", [0.0, 0.5])
def test_ctrl_c_before_the_first_step_stops_at_once_and_says_how_to_go_on(after, tmp_path):
    runs = tmp_path / "runs"
    began = spawn(tmp_path, "optimize", problem(tmp_path), "--model", "rulebook")
    while not list(runs.glob("*/run.json")):
        time.sleep(0.01)
    time.sleep(after)
    children = descendants(began.pid)
    pressed = time.monotonic()
    began.send_signal(signal.SIGINT)
    code, _, err = finish(began)
    assert time.monotonic() - pressed < 2
    (folder,) = runs.iterdir()
    assert code == 130 and f"egg resume {folder.name}" in err
    while alive(children) and time.monotonic() - pressed < 2:
        time.sleep(0.02)
    assert not alive(children)


def test_killed_before_the_first_checkpoint_it_starts_over(tmp_path):
    folder = tmp_path / "runs" / "early"
    folder.mkdir(parents=True)
    request = {"problem_file": str(problem(tmp_path)), "run_dir": str(folder)}
    (folder / "run.json").write_text(json.dumps(request))
    code, out, err = finish(spawn(tmp_path, "resume", "early"))
    assert code == 0, err
    assert (folder / "evidence.json").exists()


def imports(source: str) -> str:
    return "\n".join(line for line in source.splitlines() if line.startswith(("import ", "from ")))


def test_the_folder_is_found_from_anywhere(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    began = spawn(tmp_path, "optimize", problem(tmp_path), "--run-dir", "mine", "--model", "rulebook")
    wait_for(began, "baseline ...")
    began.send_signal(signal.SIGTERM)
    code, _, err = finish(began)
    assert code == 130 and f"egg resume {tmp_path / 'mine'}" in err
    code, out, err = finish(spawn(elsewhere, "resume", tmp_path / "mine"))
    assert code == 0, err
    assert Path(tmp_path / "mine" / "kernel.py").exists()
