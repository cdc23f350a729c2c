"""What is not worth timing, and what must never be dropped."""

from egg.tools.tune.compiling import Compiled
from egg.tools.tune.prune import pruned


def point(ms, registers=32, spills=0, shared=0, occupancy=1.0):
    return Compiled(registers=registers, spills=spills, shared_bytes=shared, occupancy=occupancy, estimate_ms=ms)


def test_spills_unless_the_kernel_as_it_is_spills_as_much():
    spilling = {"start": point(1.0), "a": point(0.9, spills=200), "b": point(0.95, spills=8)}
    assert pruned(spilling, "start") == {"a": "spills 200 bytes a thread"}
    assert pruned({**spilling, "start": point(1.0, spills=256)}, "start") == {}


def test_hopeless_and_dominated():
    points = {
        "start": point(1.0, registers=64),
        "hopeless": point(2.5, registers=8),
        "dominated": point(1.3, registers=64),
        "lighter": point(1.3, registers=48),
        "close": point(1.1, registers=64),
    }
    reasons = pruned(points, "start")
    assert set(reasons) == {"hopeless", "dominated"} and "2.5 times" in reasons["hopeless"]


def test_the_kernel_as_it_is_stays_however_bad():
    points = {"start": point(9.0, registers=255, spills=999), "a": point(1.0)}
    assert pruned(points, "start") == {}


def test_a_failed_point_dominates_nobody():
    assert pruned({"start": point(1.0), "a": Compiled(failed="x")}, "start") == {}
    assert pruned({"start": Compiled(failed="x"), "a": point(3.0, spills=100)}, "start") == {
        "a": "spills 100 bytes a thread"
    }
