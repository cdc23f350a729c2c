"""What the run's own nodes decide before anything is worked out."""

import pytest

from egg.graph.nodes import _own_folder


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("EGG_RUNS_DIR", str(tmp_path))
    return tmp_path


def test_a_thread_keeps_its_folder_when_intake_is_repeated(runs):
    (runs / "mine").mkdir()
    assert _own_folder("mine", "toy") == _own_folder("mine", "toy") == runs / "mine"


def test_a_finished_run_is_not_written_over(runs):
    (runs / "mine").mkdir()
    (runs / "mine" / "evidence.json").touch()
    assert _own_folder("mine", "toy").name.startswith("mine-")


def test_without_a_thread_every_run_has_a_folder_of_its_own(runs):
    first = _own_folder(None, "toy")
    first.mkdir()
    assert first.name.startswith("toy-") and _own_folder(None, "toy") != first
