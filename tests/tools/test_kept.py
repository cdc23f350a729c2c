"""What the instruments said is noted once, and quoted in a replay without asking them."""

from pathlib import Path

import pytest

from egg.state.fault import Fault
from egg.state.record import Record
from egg.state.status import Status
from egg.tools.clock import elapsed
from egg.tools.errors import CandidateError
from egg.tools.gpu_time import booked, holding, take_ms
from egg.tools.kept import FILE, MARK, Mark, NotRecorded, Result
from egg.tools.lines import append, read
from egg.tools.store import Store


class Time(Record):
    ms: float


def measured() -> Time:
    return Time(ms=3.0)


def unmeasurable() -> Time:
    raise AssertionError("an instrument was asked")


def replay_of(recorded: Path, folder: Path) -> Store:
    folder.mkdir()
    (folder / MARK).write_text(Mark(recording=str(recorded)).model_dump_json())
    return Store(folder, folder / "cache")


def test_a_replay_quotes_and_asks_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "run", tmp_path / "cache")
    key = {"source": "s", "device": "an H200", "version": [6, 1]}
    assert store.get("verdict", key, Time, measured) == store.get("verdict", key, Time, measured)
    assert len(read(tmp_path / "run" / FILE, Result)) == 1
    again = replay_of(tmp_path / "run", tmp_path / "again")
    assert again.get("verdict", {**key, "version": [7, 1]}, Time, unmeasurable) == Time(ms=3.0)
    assert not (tmp_path / "again" / "cache").exists(), "a quoted verdict is nobody else's"
    with pytest.raises(NotRecorded, match="holds no such verdict on a kernel"):
        again.get("verdict", {**key, "source": "t"}, Time, unmeasurable)


def test_what_the_cache_had_is_in_the_recording_too(tmp_path: Path) -> None:
    Store(None, tmp_path / "cache").get("verdict", {"source": "s"}, Time, measured)
    Store(tmp_path / "run", tmp_path / "cache").get("verdict", {"source": "s"}, Time, unmeasurable)
    assert not (tmp_path / "run" / "journal.jsonl").exists(), "nothing was done"
    again = replay_of(tmp_path / "run", tmp_path / "again")
    assert again.get("verdict", {"source": "s"}, Time, unmeasurable).ms == 3.0


def test_a_failure_is_the_same_failure(tmp_path: Path) -> None:
    fault = Fault(kind=Status.COMPILE_ERROR, text="no such name", line=3)

    def broken() -> Time:
        raise CandidateError(Status.COMPILE_ERROR, "line 3", [fault])

    with pytest.raises(CandidateError):
        Store(tmp_path / "run", tmp_path / "cache").get("profile", {"source": "s"}, Time, broken)
    with pytest.raises(CandidateError) as raised:
        replay_of(tmp_path / "run", tmp_path / "again").get("profile", {"source": "s"}, Time, unmeasurable)
    error = raised.value
    assert (error.status, error.feedback, error.faults) == (Status.COMPILE_ERROR, "line 3", (fault,))


def test_a_run_that_was_killed_goes_on_with_what_it_was_told(tmp_path: Path) -> None:
    store = Store(tmp_path / "run", tmp_path / "cache")
    assert store.witness("search", {"stage": "tiling"}, Time, measured).ms == 3.0
    assert store.witness("search", {"stage": "tiling"}, Time, unmeasurable).ms == 3.0
    store.witness("intake", {}, Time, measured, anew=True)
    assert store.witness("intake", {}, Time, lambda: Time(ms=4.0), anew=True).ms == 4.0
    again = replay_of(tmp_path / "run", tmp_path / "again")
    assert again.witness("intake", {}, Time, unmeasurable).ms == 4.0, "what it went on with"


def test_what_is_below_a_noted_result_is_not_noted(tmp_path: Path) -> None:
    store = Store(tmp_path / "run", tmp_path / "cache", witnessing=False)
    assert store.get("profile", {"source": "s"}, Time, measured).ms == 3.0
    assert not (tmp_path / "run" / FILE).exists()
    assert (tmp_path / "run" / "journal.jsonl").exists(), "the work was done all the same"


def test_clock_and_gpu_time_are_the_recorded_ones(tmp_path: Path) -> None:
    def on_gpu() -> Time:
        with holding():
            return measured()

    store, place = Store(tmp_path / "run", tmp_path / "cache"), (str(tmp_path / "run"), "seed-1")
    with booked(place):
        store.get("verdict", {"source": "s"}, Time, on_gpu)
    (result,) = read(tmp_path / "run" / FILE, Result)
    path = tmp_path / "run" / FILE
    path.unlink()
    append(path, result.model_copy(update={"elapsed_ms": 3_600_000, "gpu_ms": 1234}).model_dump(mode="json"))
    again = str(tmp_path / "again")
    with booked((again, "seed-1")):
        replay_of(tmp_path / "run", tmp_path / "again").get("verdict", {"source": "s"}, Time, unmeasurable)
    assert elapsed(again, 0) == 3_600_000
    assert take_ms((again, "seed-1")) == 1234
    take_ms(place)
