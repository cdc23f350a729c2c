"""How wrong the estimate is: points, their times, and what is told of both."""

import json
import subprocess
import sys
from math import exp
from pathlib import Path
from typing import Any

import pytest

from egg.evals import estimator
from egg.evals.estimator import predicted, summary, timed, told
from egg.evals.families import FAMILIES
from egg.evals.points import Variant, family, problem_of, variants
from egg.evals.scatter import save_scatter
from egg.state.errors import UserError
from egg.tools.device import detect_device
from egg.tools.store import Store
from tests.tools.timed import candidate, job

H200 = detect_device("sm_90")


def part(pairs: list[tuple[float, float]], rho: float | None) -> dict[str, Any]:
    rows = [{"point": str(n), "estimate_ms": own, "median_ms": real} for n, (own, real) in enumerate(pairs)]
    return {"kind": "row", "points": rows, "spearman": rho}


def test_there_are_enough_points_of_enough_kernels() -> None:
    assert sum(len(list(family.points())) for family in FAMILIES) >= 80 and len(FAMILIES) >= 8
    assert all(8 <= len(list(one.points())) <= 12 for one in FAMILIES)
    assert len({one.name for one in FAMILIES}) == len(FAMILIES)


@pytest.mark.parametrize("name", ["honest_softmax", "honest_transposed"])
def test_honest_kernels_have_their_numbers_replaced(name: str, tmp_path: Path) -> None:
    one = family(name)
    found = variants(one, problem_of(one), H200, Store(cache=tmp_path))
    sources = {variant.source for variant in found}
    assert None not in sources and len(sources) == len(found) == len(list(one.points()))
    point = next(one.points())
    assert f"BLOCK={point['block']}" in (found[0].source or "") and f"num_warps={point['warps']}" in (
        found[0].source or ""
    )


def test_kernels_of_the_library_are_written_anew(tmp_path: Path) -> None:
    one = family("row_sum")
    found = variants(one, problem_of(one), H200, Store(cache=tmp_path))
    assert len({variant.source for variant in found}) == len(found)
    assert found[0].name in ("BLOCK = 128, num_warps = 4", found[0].name) and "= " in found[0].name


def test_points_that_give_the_same_kernel_are_one_and_failures_say_why(tmp_path: Path) -> None:
    one = family("honest_softmax")
    problem = problem_of(one)
    good = variants(one, problem, H200, Store(cache=tmp_path))[0]
    twin, none = good.model_copy(update={"name": "twin"}), Variant(name="none", source=None)
    broken = Variant(name="broken", source=(good.source or "").replace("tl.load", "tl.lode"))
    rows = predicted(one, problem, [good, twin, none, broken], H200, Store(cache=tmp_path))
    assert [row["point"] for row in rows] == [good.name, "none", "broken"]
    assert rows[0]["estimate_ms"] > 0.1 and "cannot write" in rows[1]["why"] and "compile_error" in rows[2]["why"]


@pytest.mark.slow
def test_points_are_timed_beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the host's clock, in groups."""
    monkeypatch.setattr(estimator, "AT_ONCE", 2)
    sources = {
        "quick": candidate("return self.honest(x)"),
        "slow": candidate("for _ in range(300): y = self.honest(x)\nreturn y"),
        "broken": candidate("raise ValueError('no')"),
    }
    rows = [{"point": name, "estimate_ms": 1.0} for name in sources] + [{"point": "unfit", "why": "does not fit"}]
    found = {row["point"]: row for row in timed(job(), rows, sources)}
    assert found["slow"]["median_ms"] > 5 * found["quick"]["median_ms"] > 0
    assert "not timed" in found["broken"]["why"] and found["unfit"] == {"point": "unfit", "why": "does not fit"}


def test_the_summary_tells_order_and_factor() -> None:
    parts = {
        "one": part([(1.0, 1.0), (2.0, 1.0), (1.0, 2.0)], 0.9),
        "two": part([(4.0, 1.0)], None),
        "three": part([(1.1, 1.0)] * 3, 0.7),
    }
    found = summary(parts)
    assert found["points"] == 7 and found["kernels"] == 2
    assert found["spearman"] == {"least": 0.7, "median": pytest.approx(0.8)}
    assert found["factor"]["median"] == pytest.approx(1.1) and found["factor"]["nine_of_ten"] > 2
    assert exp(0) == 1 and "0.70 at worst" in told(found)


def test_without_times_nothing_is_claimed() -> None:
    found = summary({"one": {"kind": "row", "points": [{"point": "a", "estimate_ms": 1.0}], "spearman": None}})
    assert found["spearman"] is None and found["factor"] is None and "nothing was timed" in told(found)


def test_the_picture_has_every_kernel_that_was_timed(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    parts = {"one": part([(1.0, 1.0), (2.0, 3.0)], 1.0), "two": part([(4.0, 1.0)], None)}
    save_scatter(parts, "a GPU", tmp_path / "plots" / "scatter.svg")
    assert (tmp_path / "plots" / "scatter.svg").read_text().count("<path") > 10
    with pytest.raises(UserError, match="nothing was timed"):
        save_scatter({}, "a GPU", tmp_path / "none.svg")
    with pytest.raises(UserError, match="pictures end in"):
        save_scatter(parts, "a GPU", tmp_path / "none.txt")


@pytest.mark.slow
def test_the_command_goes_on_where_it_stopped(tmp_path: Path) -> None:
    out = tmp_path / "estimator.json"
    command = [sys.executable, "-m", "egg.evals.estimator", "--out", str(out), "honest_transposed"]
    first = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert first.returncode == 0, first.stderr
    told_first = json.loads(out.read_text())
    rows = told_first["parts"]["honest_transposed"]["points"]
    assert sum("estimate_ms" in row for row in rows) >= 8
    told_first["parts"]["honest_transposed"]["points"][0]["estimate_ms"] = 42.0
    out.write_text(json.dumps(told_first))
    again = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert again.returncode == 0, again.stderr
    assert json.loads(out.read_text())["parts"]["honest_transposed"]["points"][0]["estimate_ms"] == 42.0
