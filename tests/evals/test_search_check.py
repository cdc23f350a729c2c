"""The search beside timing everything; what a kill leaves."""

from typing import Any

import pytest

from egg.evals import search_check
from egg.evals.search_check import AXES, POINTS, _killed, passed, summary, task, told, twice
from egg.state.search import SearchSpace
from egg.tools.device import detect_device
from egg.tools.store import Store
from egg.tools.tune.space import current

H200 = detect_device("sm_90")


def lines(*work: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"kind": kind, "key": key} for kind, key in work]


def test_the_space_has_as_many_points_as_promised_and_the_kernel_itself(tmp_path: Any) -> None:
    of = task(H200, Store(cache=tmp_path))
    assert isinstance(of.space, SearchSpace) and of.space.size == POINTS
    own = current(of.source, of.space)
    assert all(own[parameter.name] in parameter.values for parameter in of.space.parameters)
    assert len(AXES) == len(of.space.parameters)


def test_what_is_in_a_journal_twice_was_done_twice() -> None:
    before = lines(("point", "a"), ("brief", "b"))
    after = lines(("point", "a"), ("brief", "b"), ("brief", "b"), ("brief", "c"), ("profile", "x"), ("profile", "x"))
    found = twice(before, after)
    assert found["twice"] == [["brief", "b"]]
    assert found["before"] == {"point": 1, "brief": 1} and found["after"] == {"point": 1, "brief": 3}


def parts(seconds: float = 40.0, behind: float = 0.01, done_twice: int = 0, points: int = POINTS) -> dict[str, Any]:
    each = [{"values": {"r0.tiling.BLOCK_M": 64}, "chosen": n == 0} for n in range(points)]
    return {
        "search": {"seconds": seconds, "measured": True, "points": each},
        "last": {"behind": behind},
        "killed": {"twice": [["brief", "b"]] * done_twice},
    }


def test_all_that_was_promised_is_asked_for() -> None:
    assert passed(summary(parts()))
    assert "BLOCK_M = 64" in told(summary(parts()))
    for wrong in ({"seconds": 61.0}, {"behind": 0.03}, {"done_twice": 1}, {"points": POINTS - 1}):
        assert not passed(summary(parts(**wrong)))  # type: ignore[arg-type]


def test_without_a_gpu_only_the_kill_is_judged() -> None:
    assert passed(summary({"killed": {"twice": []}}))
    assert not passed(summary({"killed": {"twice": [["point", "a"]]}}))


@pytest.mark.slow
def test_a_killed_search_does_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_check, "PATIENCE_S", 600.0)
    found = _killed(H200)
    assert found["twice"] == []
    assert found["before"]["point"] < found["after"]["point"]
