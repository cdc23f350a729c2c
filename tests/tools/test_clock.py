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


def test_the_time_a_person_takes_to_answer_is_not_counted(monkeypatch):
    at(monkeypatch, 10.0)
    clock.elapsed("asked", 0)
    at(monkeypatch, 12.0)
    assert clock.elapsed("asked", 0) == 2000
    at(monkeypatch, 5000.0)
    clock.waited("asked")
    assert clock.elapsed("asked", 1000) == 1000, "a branch that has seen less of the run"
    assert clock.elapsed("asked", 2000) == 2000, "must not hold the clock of the others back"
    at(monkeypatch, 5001.0)
    assert clock.elapsed("asked", 1000) == 3000
