"""Where runs live."""

from egg.tools.folders import runs_dir, server_checkpoint


def test_runs_are_here_unless_told_otherwise(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EGG_RUNS_DIR")
    assert runs_dir() == tmp_path / "runs"
    monkeypatch.setenv("EGG_RUNS_DIR", "elsewhere")
    assert server_checkpoint() == tmp_path / "elsewhere" / "studio.sqlite"
