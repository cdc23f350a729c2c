"""Lines that survive a kill."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from egg.state.record import Record
from egg.tools.lines import append, read


class Number(Record):
    value: int
    text: str = ""


def test_half_a_line_is_no_record_and_spoils_none_after_it(tmp_path: Path) -> None:
    path = tmp_path / "run" / "numbers.jsonl"
    assert read(path, Number) == ()
    append(path, {"value": 1})
    with path.open("a") as killed:
        killed.write('{"value": 2')
    assert [each.value for each in read(path, Number)] == [1]
    append(path, {"value": 3})
    assert [each.value for each in read(path, Number)] == [1, 3]


def test_every_line_of_writers_side_by_side_is_there(tmp_path: Path) -> None:
    path = tmp_path / "numbers.jsonl"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: append(path, {"value": number, "text": "x" * 20_000}), range(64)))
    assert sorted(each.value for each in read(path, Number)) == list(range(64))
