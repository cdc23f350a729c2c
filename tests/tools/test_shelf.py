"""Compiled kernels go from one process of a candidate to the next, and nowhere else."""

from pathlib import Path

from egg.tools import shelf


def compiled(folder: Path, text: str) -> Path:
    (folder / ".triton").mkdir(parents=True)
    (folder / ".triton" / "kernel.cubin").write_text(text)
    return folder


def test_once_for_the_same_source(tmp_path: Path) -> None:
    shelf.put("one", compiled(tmp_path / "checked", "machine code"))
    for name in ("timed", "other", "again"):
        (tmp_path / name).mkdir()
    assert not shelf.take("another", tmp_path / "other")
    assert shelf.take("one", tmp_path / "timed")
    assert (tmp_path / "timed" / ".triton" / "kernel.cubin").read_text() == "machine code"
    assert not shelf.take("one", tmp_path / "again")


def test_the_oldest_goes(tmp_path: Path) -> None:
    for number in range(shelf.MOST + 1):
        shelf.put(f"source {number}", compiled(tmp_path / str(number), ""))
    (tmp_path / "timed").mkdir()
    assert not shelf.take("source 0", tmp_path / "timed")
    assert shelf.take(f"source {shelf.MOST}", tmp_path / "timed")


def test_nothing_compiled(tmp_path: Path) -> None:
    shelf.put("nothing", tmp_path)
    assert not shelf.take("nothing", tmp_path)
