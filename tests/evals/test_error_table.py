"""The page about the estimate shows what was measured."""

import json
from pathlib import Path
from typing import Any

import pytest

from egg.evals.error_table import PAGE, main, table
from egg.evals.estimator import summary
from egg.evals.table import BEGIN, END, fill


def results(measured: bool) -> dict[str, Any]:
    rows: list[dict[str, Any]] = [{"point": str(n), "estimate_ms": 1.0 + n} for n in range(3)]
    if measured:
        rows = [row | {"median_ms": 2.0 + 2 * n} for n, row in enumerate(rows)]
    parts = {"row_sum": {"kind": "row reduction", "points": rows, "spearman": 1.0 if measured else None}}
    device = {"name": "NVIDIA H200", "software": {"triton": "3.6.0"}}
    return {"device": device, "commit": "abc", "date": "2026-12-01", "summary": summary(parts), "parts": parts}


def test_each_kernel_has_a_line() -> None:
    text = table(results(True))
    assert "| row_sum | row reduction | 3 | 2.000 to 6.000 | 1.00 | 2.00 |" in text
    assert text.startswith("NVIDIA H200, commit abc, 2026-12-01 (triton 3.6.0): 3 points of 1 kernels")


def test_predictions_alone_are_no_results() -> None:
    with pytest.raises(ValueError, match="nothing in it was measured"):
        table(results(False))


def test_the_page_and_its_picture_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "estimate.md").write_text(f"# The estimate\n{BEGIN}\nNot measured yet.\n{END}\n")
    (tmp_path / "r.json").write_text(json.dumps(results(True)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["error_table", "r.json", "--plot", "docs/estimate.svg"])
    assert main() == 0
    page = (tmp_path / "docs" / "estimate.md").read_text()
    assert "| row_sum |" in page and "(estimate.svg)" in page and "Not measured" not in page
    assert (tmp_path / "docs" / "estimate.svg").stat().st_size > 1000


def test_the_page_has_room_for_them() -> None:
    text = (Path(__file__).parents[2] / PAGE).read_text()
    assert BEGIN in text and END in text
    assert "row reduction" in fill(text, [table(results(True))])
