"""What another day may answer otherwise is not stored."""

from pathlib import Path

from egg.state.evaluation import Evaluation
from egg.state.status import Status
from egg.tools.store import Store
from tests.graph.make import verdict


def test_only_what_lasts_is_found_again(tmp_path: Path) -> None:
    store, answers = Store(tmp_path, tmp_path / "cache"), [verdict(Status.TIMEOUT), verdict(Status.OK)]

    def judged() -> Status:
        got = store.get(
            "verdict", {"kernel": 1}, Evaluation, lambda: answers.pop(0), lambda v: v.status is not Status.TIMEOUT
        )
        return got.status

    assert [judged(), judged(), judged()] == [Status.TIMEOUT, Status.OK, Status.OK] and not answers
    assert len((tmp_path / "journal.jsonl").read_text().splitlines()) == 2
