"""The command that puts the judge to the test: what it counts, excuses, and says when it cannot."""

import subprocess
import sys
from pathlib import Path

import pytest

from egg.evals import corpus as corpora
from egg.evals.corpus import Case, corpus
from egg.evals.hostile import descendants
from egg.evals.library import library
from egg.evals.trust import tally
from egg.state.errors import UserError
from egg.state.evaluation import Evaluation, Status
from egg.state.fault import HeldOut
from egg.state.ownership import Ownership


def row(kind: str, right: bool, got: str = "mismatch", expected: str = "mismatch") -> dict[str, object]:
    same = right and got == expected
    return {"name": kind, "kind": kind, "right": right, "as_expected": same, "got": got, "expected": [expected]}


def test_controls_among_the_cheats_count_as_honest() -> None:
    told = tally([row("cheat", True), row("cheat", False), row("honest", True), row("cheat", False, "mismatch", "ok")])
    assert (told["caught"], told["cheats"], told["missed"]) == (1, 2, ["cheat"])
    assert (told["false_alarms"], told["honest"]) == (1, 2)


def test_another_failure_than_the_tables_catches_and_is_told() -> None:
    told = tally([row("cheat", True, "runtime_error")])
    assert told["caught"] == 1 and told["other_status"] == ["cheat runtime_error"]


def test_an_ok_is_excused_only_by_what_the_table_names() -> None:
    case = Case(name="a", source="", problem="", expected=(Status.MISMATCH,), held_out="sizes", label="partly_triton")
    strided = HeldOut(sizes={}, why="strided", status=Status.MISMATCH, feedback="")
    ragged = strided.model_copy(update={"why": "prime"})
    plain = Evaluation(status=Status.OK, mode="gpu")
    assert not case.excused(plain)
    assert not case.excused(plain.model_copy(update={"held_out": (strided,)}))
    assert case.excused(plain.model_copy(update={"held_out": (ragged,)}))
    assert case.excused(plain.model_copy(update={"ownership": Ownership(label="partly_triton")}))
    assert not case.excused(plain.model_copy(update={"ownership": Ownership(label="triton")}))


def test_without_a_checkout_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(corpora, "TESTS", tmp_path)
    corpus.cache_clear()
    with pytest.raises(UserError, match="source checkout"):
        corpus("cheats")


def test_orders_have_names_of_their_own() -> None:
    names = [order.name for order in library()]
    assert len(names) == len(set(names)) >= 48


def test_descendants_are_seen_and_gone() -> None:
    before = descendants()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert descendants() == before + 1
        child.kill()
    assert descendants() == before
