"""A kernel that is launched over and over is profiled a few times and no more."""

from egg.tools.sandbox.client import Bounds, run


def test_the_profiler_pauses_for_what_it_has_seen() -> None:
    found = run("tests.tools.counters.repeating:work", {}, Bounds(seconds=60)).require("repeating")
    assert found["profiled"] == ["a", "a", "b", "a"]
    assert found["done"] == 9 and found["running"], "every launch is made, and the profiler goes on afterwards"
