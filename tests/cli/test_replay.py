"""`egg replay` on the recording that comes with the code: the same, another, and nothing to replay.

What decides a run may be changed on purpose; then record it anew (docs/replay.md, "Recordings kept with code").
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from egg.cli import main
from egg.request import validated
from egg.session import create
from egg.state.errors import UserError

EXAMPLE = Path(__file__).parents[2] / "evals" / "recordings" / "linear_gelu"
PROBLEM = Path(__file__).parents[2] / "evals" / "problems" / "linear_gelu.py"
Egg = Callable[..., tuple[int, str, str]]


@pytest.fixture
def egg(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Egg:
    """The command in this process, where neither a child process nor a key is to be had."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a replay starts no process")

    def command(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("egg.tools.sandbox.client.warm", refuse)
        monkeypatch.setattr("subprocess.Popen", refuse)
        monkeypatch.setattr("sys.argv", ["egg", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return command


@pytest.fixture
def example(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "example"))


def changed(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        change(line)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_the_example_is_the_same(egg: Egg, tmp_path: Path) -> None:
    code, said, complaints = egg("replay", str(EXAMPLE), "--any-prompt", "--run-dir", str(tmp_path / "again"))
    assert (code, complaints) == (0, "")
    assert "The same: 7 decisions, 2 kernels." in said
    assert "(6 of rulebook)" in said
    assert "Answered by: the rulebook" in said
    assert (tmp_path / "again" / "kernel.py").read_bytes() == (EXAMPLE / "kernel.py").read_bytes()
    models = json.loads((tmp_path / "again" / "evidence.json").read_text())["models"]
    assert models == {"rulebook, replayed": 6}


def test_another_verdict_is_another_result(egg: Egg, example: Path) -> None:
    def fail(line: dict[str, Any]) -> None:
        if line["kind"] == "verdict":
            line["answer"] = {"status": "mismatch", "feedback": "wrong everywhere", "mode": "interpreter"}

    changed(example / "results.jsonl", fail)
    code, _, complaints = egg("replay", str(example), "--any-prompt")
    assert code == 1
    assert complaints.startswith("egg: not the same: ")
    assert "call 1 of the debug agent in seed-" in complaints, "which the recorded run had no need of"


def test_another_claim_is_told_with_both(egg: Egg, example: Path) -> None:
    evidence = json.loads((example / "evidence.json").read_text())
    evidence["outcome"]["claim"] = "a hundred times faster"
    evidence["ledger"][0]["why"] = "so it is"
    (example / "evidence.json").write_text(json.dumps(evidence))
    code, _, complaints = egg("replay", str(example), "--any-prompt")
    assert code == 1
    assert 'not the same: decision seed-1, why: recorded "so it is", now "correct"' in complaints
    assert 'not the same: outcome, claim: recorded "a hundred times faster", now "correct in ' in complaints


def test_another_prompt_is_told_or_counted(egg: Egg, example: Path) -> None:
    def ask_otherwise(line: dict[str, Any]) -> None:
        line["asked"][0]["text"] = line["asked"][0]["text"].replace("\n", "\nPlease. ", 1)

    changed(example / "exchanges.jsonl", ask_otherwise)
    code, _, complaints = egg("replay", str(example))
    assert code == 1
    assert "does not fit call 1 of the code agent in seed-" in complaints
    assert "message 1 of 2 (system), line 2: recorded `Please." in complaints
    assert complaints.count("\n") == 1
    code, said, _ = egg("replay", str(example), "--any-prompt")
    assert code == 0
    assert "Prompts that are others now: " in said


def test_what_was_not_recorded_is_not_found_out(egg: Egg, example: Path) -> None:
    lines = [line for line in (example / "results.jsonl").read_text().splitlines() if '"kind": "search"' not in line]
    (example / "results.jsonl").write_text("\n".join(lines) + "\n")
    code, _, complaints = egg("replay", str(example), "--any-prompt")
    assert code == 1
    assert "holds no such machine search" in complaints


def test_what_cannot_be_replayed_is_the_users_to_mend(egg: Egg, example: Path) -> None:
    assert egg("replay", "nothing")[0] == 2
    (example / "evidence.json").unlink()
    code, _, complaints = egg("replay", str(example))
    assert code == 2
    assert "is not finished, so there is no result to compare with" in complaints


def test_a_run_names_its_recording_by_the_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLE.parent)
    request = validated(str(PROBLEM), {"model": "replay:linear_gelu"})
    assert request.model == f"replay:{EXAMPLE}"
    with pytest.raises(UserError, match="no run other to replay"):
        validated(str(PROBLEM), {"model": "replay:other"})


def test_run_json_holds_no_password(tmp_path: Path) -> None:
    from egg.state.run import RunInput

    given = RunInput(
        problem_file="p.py", model="openai:tiny", base_url="http://me:hunter2@box/v1", run_dir=str(tmp_path / "run")
    )
    _, request = create(given, "p")
    assert "hunter2" not in (tmp_path / "run" / "run.json").read_text()
    assert request.base_url == "http://me:hunter2@box/v1", "the run itself has it"
