"""Whatever a child leaves can be deleted, and nothing else is."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from egg.tools.sandbox.removal import remove, scratch
from egg.tools.sandbox.watch import Hidden, _named_files


def nest(folder: Path, depth: int) -> None:
    """Folders within folders, deeper than a path is long."""
    fd = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("deeper", dir_fd=fd)
        inner = os.open("deeper", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.close(fd)


def test_deep_closed_and_linked_folders_go_and_what_is_linked_to_stays(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    with scratch(str(tmp_path)) as folder:
        nest(Path(folder), 4000)
        (Path(folder) / "closed" / "within").mkdir(parents=True)
        (Path(folder) / "closed" / "within").chmod(0)
        (Path(folder) / "closed").chmod(0)
        (Path(folder) / "link").symlink_to(outside)
        (Path(folder) / "plain").write_text("x")
    assert sorted(tmp_path.iterdir()) == [outside]
    assert (outside / "kept").read_text() == "kept"


def test_several_may_delete_the_same(tmp_path: Path) -> None:
    for _ in range(5):
        for number in range(40):
            (tmp_path / "home" / f"child-{number}" / "a" / "b").mkdir(parents=True)
            (tmp_path / "home" / f"child-{number}" / "a" / "file").touch()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(remove, [tmp_path / "home"] * 4))
        assert not (tmp_path / "home").exists()


def test_what_is_not_there_need_not_be_deleted(tmp_path: Path) -> None:
    remove(tmp_path / "nothing")


def test_folders_too_deep_to_look_into_are_seen(tmp_path: Path) -> None:
    nest(tmp_path, 400)
    with pytest.raises(Hidden, match="folders within folders"):
        _named_files(str(tmp_path))
