"""Where runs live."""

from egg.tools.folders import fresh_run_dir, runs_dir, server_checkpoint


def test_runs_are_here_unless_told_otherwise(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EGG_RUNS_DIR")
    assert runs_dir() == tmp_path / "runs"
    monkeypatch.setenv("EGG_RUNS_DIR", "elsewhere")
    assert server_checkpoint() == tmp_path / "elsewhere" / "studio.sqlite"


def test_a_fresh_folder_is_nobodys(tmp_path, monkeypatch):
    monkeypatch.setenv("EGG_RUNS_DIR", str(tmp_path))
    taken = [fresh_run_dir("toy") for _ in range(3)]
    assert len(set(taken)) == 1
    for _ in range(3):
        fresh_run_dir("toy").mkdir()
    assert len(list(tmp_path.iterdir())) == 3
