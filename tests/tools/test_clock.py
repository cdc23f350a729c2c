"""Active time over several processes."""

from egg.tools import clock


def at(monkeypatch, seconds):
    monkeypatch.setattr(clock, "monotonic", lambda: seconds)


def test_time_goes_on_from_what_was_kept(monkeypatch):
    at(monkeypatch, 100.0)
    assert clock.elapsed("resumed", 5000) == 5000
    at(monkeypatch, 101.5)
    assert clock.elapsed("resumed", 5000) == 6500
    assert clock.elapsed("resumed", 6000) == 6500


def test_runs_have_clocks_of_their_own(monkeypatch):
    at(monkeypatch, 10.0)
    clock.elapsed("early", 0)
    at(monkeypatch, 12.0)
    assert clock.elapsed("late", 0) == 0
    assert clock.elapsed("early", 0) == 2000


def test_it_never_runs_backwards(monkeypatch):
    at(monkeypatch, 10.0)
    clock.elapsed("back", 0)
    assert clock.elapsed("back", 9000) == 9000
