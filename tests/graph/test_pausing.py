"""A run that asks a person: before stages and on decisions, with every answer there is."""

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from egg.graph.checkpointing import open_saver
from egg.graph.pausing import NO_PAUSE
from egg.state.ledger import Verb
from egg.state.pause import Action
from egg.state.settings import Limits
from egg.tools import clock
from egg.tools.answers import kept_answers
from egg.tools.folders import CHECKPOINT
from egg.tools.kept import MARK, Mark
from tests.graph.paused import Paused, Scripted

ROOT = Path(__file__).parents[2]


@pytest.fixture
def agents(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    scripted = Scripted()
    scripted.play(monkeypatch)
    return scripted


@pytest.fixture
def run(agents: Scripted, tmp_path: Path) -> Iterator[Paused]:
    with open_saver(tmp_path / CHECKPOINT) as saver:
        yield Paused(tmp_path, saver)


def test_by_default_nobody_is_asked(run):
    run.begin()
    assert run.values["outcome"].kernel and not run.asked
    assert all(line.review is None and not line.by_person for line in run.ledger.values())
    assert not (run.folder / "answers.jsonl").exists()


def test_before_stages_parallel_seeds_ask_at_once_in_plain_json_and_have_done_nothing_yet(run, agents):
    run.begin(pause="stages")
    assert set(run.questions) == {"seed-1", "seed-2"} and not agents.work
    question = run.questions["seed-1"]
    assert json.loads(json.dumps(question)) == question
    assert set(question["answers"]) == {"approve", "hint", "refuse"} and "fault" not in question


def test_an_answer_to_one_seed_leaves_the_other_asked_and_repeats_nothing(run, agents):
    run.begin(pause="both").answer(seed_1="approve")
    assert {stage: question["kind"] for stage, question in run.questions.items()} == {
        "seed-1": "decision",
        "seed-2": "stage",
    }
    run.answer(seed_2="approve")
    assert {question["kind"] for question in run.questions.values()} == {"decision"}
    run.finish()
    assert run.values["outcome"].kernel
    assert max(Counter(work for work in agents.work if "code" in work).values()) == 1
    answered = [(line.kind, line.stage) for line in kept_answers(run.folder)]
    assert len(answered) == len(set(answered)) == 5 + 7


def test_the_same_run_with_everything_approved_ends_the_same(run, agents, tmp_path):
    run.begin(pause="both").finish()
    with open_saver(tmp_path / "other.sqlite") as saver:
        calm = Paused(tmp_path / "calm", saver).begin()
        assert run.values["incumbent"] == calm.values["incumbent"]
        expected = calm.ledger
    approved = {stage: line.model_copy(update={"review": None}) for stage, line in run.ledger.items()}
    assert approved == expected
    assert {line.review.action for line in run.ledger.values()} == {Action.APPROVE}


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("perhaps", "`perhaps` is no answer; possible here: approve, hint, refuse"),
        ("hint", "a hint needs its text"),
        ({"action": "hint", "text": " "}, "a hint needs its text"),
        ("edit other words", "edit is not possible here: approve, hint, refuse"),
        ({"action": "approve", "reason": "?"}, "reason: Extra inputs are not permitted"),
        ('{"action": "approve"', "delimiter"),
        ([], "an answer is an object or words"),
        (7, "an answer is an object or words"),
        ("", "that is no answer"),
    ],
)
def test_a_bad_answer_is_asked_again_with_what_was_wrong(run, agents, answer, fault):
    run.begin(pause="stages", seeds=1).answer(seed_1=answer)
    assert fault in run.questions["seed-1"]["fault"]
    assert not agents.work and not kept_answers(run.folder)
    run.answer(seed_1='{"action": "approve"}')
    assert "code seed-1" in agents.work


def test_a_stage_left_out_is_marked_and_the_run_goes_on_without_it(run, agents):
    run.begin(pause="stages").answer(seed_1="refuse one pass never fits here", seed_2="approve")
    assert run.ledger["seed-1"].verb is Verb.SKIPPED
    assert run.ledger["seed-1"].by_person == "refused by a person (one pass never fits here)"
    assert run.ledger["choose"].kernel == run.ledger["seed-2"].kernel
    run.answer(mapping="refuse")
    assert run.ledger["mapping"].kernel == run.ledger["choose"].kernel
    run.finish()
    assert not any("seed-1" in work or "mapping" in work for work in agents.work)
    assert run.ledger["tiling"].verb is Verb.KEPT


def test_a_hint_before_a_stage_reaches_its_agents_and_nobody_elses(run, agents):
    run.begin(pause="stages").answer(seed_1="hint mind the last tile", seed_2="approve")
    assert agents.hints == {"seed-1": ("mind the last tile",), "seed-2": ()}
    run.finish()
    assert agents.hints["mapping"] == ()
    assert run.ledger["seed-1"].by_person == "hint by a person: mind the last tile"


def test_a_hint_on_a_decision_is_worth_one_round_more(run, agents):
    run.begin(pause="decisions", seeds=1)
    assert agents.work.count("code seed-1") == 1
    before = run.questions["seed-1"]
    run.answer(seed_1="hint two passes")
    after = run.questions["seed-1"]
    assert agents.work.count("code seed-1") == 2 and agents.hints["seed-1"] == ("two passes",)
    assert (before["number"], after["number"], after["hints"]) == (0, 1, ["two passes"])
    assert len(set(agents.places)) == len(agents.places), "or an answer would be taken for that to another question"
    assert len(after["decision"]["tried"]) == 2 and "seed-1" not in run.ledger
    run.finish()
    assert run.ledger["seed-1"].hints == ("two passes",)


def test_out_of_budget_no_hint_is_offered(run):
    run.begin(pause="decisions", seeds=1, limits=Limits(calls=0))
    assert set(run.questions["seed-1"]["answers"]) == {"approve", "edit"}
    run.answer(seed_1="hint try on")
    assert "hint is not possible here" in run.questions["seed-1"]["fault"]


def test_an_edit_changes_the_words_and_neither_numbers_nor_kernel_and_is_marked_everywhere(run):
    run.begin(pause="decisions").answer(
        seed_1={"action": "edit", "what": "rows stay in registers", "why": "as measured before"}, seed_2="approve"
    )
    line = run.ledger["seed-1"]
    assert (line.what, line.why) == ("rows stay in registers", "as measured before")
    assert line.verb is Verb.KEPT and "1.01 ms estimated" in line.evidence and line.kernel
    assert line.by_person == "edited by a person, was: change 0 of seed-1; correct"
    run.finish()
    evidence = json.loads((run.folder / "evidence.json").read_text())["ledger"]
    assert [(each["stage"], each["review"]["was"]) for each in evidence if each["review"]["action"] == "edit"] == [
        ("seed-1", "change 0 of seed-1; correct")
    ]
    assert f"**{line.by_person}**" in (run.folder / "report.md").read_text()


def test_a_refused_kernel_is_dropped_and_the_one_before_goes_on(run, agents):
    run.begin(pause="decisions").answer(seed_1="refuse unreadable", seed_2="approve")
    assert run.ledger["seed-1"].kernel is None and run.ledger["seed-1"].verb is Verb.REFUSED
    run.answer(choose="approve")
    kernel = run.ledger["choose"].kernel
    assert kernel == run.ledger["seed-2"].kernel
    assert run.questions["mapping"]["decision"]["kernel"] != kernel
    run.answer(mapping="refuse")
    assert run.ledger["mapping"].kernel == kernel == run.values["incumbent"].id
    assert "refused: change 0 of mapping" in run.questions["tiling"]["ledger"][-1]
    run.finish()
    assert run.values["incumbent"].origin == "memory" and run.values["outcome"].kernel


def test_what_was_not_kept_cannot_be_refused(run, agents, monkeypatch):
    monkeypatch.setattr(agents, "judge", lambda *a, **k: pytest.fail("nothing is worth a draft"))
    run.begin(pause="decisions", limits=Limits(calls=0))
    assert all("refuse" not in question["answers"] for question in run.questions.values())


@pytest.mark.parametrize("stage", ["choose", "confirm"])
def test_whoever_refuses_the_choice_or_the_result_gets_the_reference(run, stage):
    run.begin(pause="decisions")
    while stage not in run.questions:
        run.answer(others="approve")
    run.answer(**{stage: "refuse it is not ours to ship"}).finish()
    outcome = run.values["outcome"]
    assert outcome.kernel is None and "a person refused" in outcome.claim
    assert "EGG delivers the reference itself: a person refused" in (run.folder / "kernel.py").read_text()
    assert run.ledger[stage].verb is Verb.REFUSED
    assert ("mapping" in run.ledger) is (stage == "confirm")


def test_resumed_without_pauses_it_asks_nothing_and_marks_nothing(run):
    run.begin(pause="both")
    run.config["configurable"][NO_PAUSE] = True
    run.go(None)
    assert run.values["outcome"].kernel and not any(line.by_person for line in run.ledger.values())


def test_the_last_answer_counts_although_nothing_more_is_asked(run):
    run.begin(pause="both", seeds=1)
    run.config["configurable"][NO_PAUSE] = True
    run.answer(seed_1="hint go wide")
    assert run.values["outcome"].kernel
    assert {stage: line.by_person for stage, line in run.ledger.items() if line.by_person} == {
        "seed-1": "hint by a person: go wide"
    }


def test_waiting_for_a_person_is_no_work(run, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    run.begin(pause="both", limits=Limits(minutes=5))
    while run.asked:
        now[0] += 3600
        run.answer(others="approve")
    assert run.values["elapsed_ms"] < 1000
    assert run.values["outcome"].ended == "finished" and run.ledger["memory"].verb is Verb.KEPT


def test_a_replay_is_given_the_answers_that_were_given(run, tmp_path):
    run.begin(pause="both").answer(seed_1="hint go wide", seed_2="refuse")
    run.answer(seed_1="hint wider still").answer(seed_1="edit wide rows").answer(choose="approve")
    run.config["configurable"][NO_PAUSE] = True
    recorded = run.go(None).ledger
    (again := tmp_path / "again").mkdir()
    (again / MARK).write_text(Mark(recording=str(run.folder)).model_dump_json())
    with open_saver(again / CHECKPOINT) as saver:
        replayed = Paused(again, saver).begin(pause="both")
        assert replayed.ledger == recorded and not replayed.asked
    assert recorded["seed-1"].by_person and not recorded["mapping"].by_person


@pytest.mark.slow
def test_killed_while_one_seed_waits_and_another_works(agents, tmp_path):
    died = subprocess.run([sys.executable, "-m", "tests.graph.paused", str(tmp_path)], cwd=ROOT, timeout=120)
    assert died.returncode == -signal.SIGKILL
    with open_saver(tmp_path / CHECKPOINT) as saver:
        run = Paused(tmp_path, saver)
        assert set(run.questions) == {"seed-1"}
        run.answer(seed_1="edit ours")
        assert set(run.questions) == {"seed-2"}, "its work went on beside the answer"
        run.finish()
        assert run.ledger["seed-1"].what == "ours"
        assert not any("seed-1" in work for work in agents.work), "that was done before the kill"
