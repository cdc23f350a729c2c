"""What people answered in a run: `answers.jsonl` in its folder, a line for each question."""

from pathlib import Path

from egg.state.pause import Answer, Question
from egg.state.record import Record
from egg.tools.lines import append, read
from egg.tools.redaction import redacted

FILE = "answers.jsonl"


class Answered(Record):
    """An answer, and the question's name within its run."""

    kind: str
    stage: str
    number: int
    answer: Answer


def keep_answer(run_dir: str | Path, question: Question, answer: Answer) -> None:
    """Note an answer, once, whatever is killed on the way; a later one to the same question, in a fork, is another."""
    line = Answered(kind=question.kind, stage=question.stage, number=question.number, answer=answer)
    if line not in kept_answers(run_dir):
        append(Path(run_dir) / FILE, redacted(line.model_dump(mode="json", exclude_defaults=True)))


def kept_answers(run_dir: str | Path) -> tuple[Answered, ...]:
    """Every answer, oldest first."""
    return read(Path(run_dir) / FILE, Answered)


def recorded_answer(run_dir: str | Path, question: Question) -> Answer | None:
    """What was answered to this question in a recorded run; None if nobody was asked."""
    name = (question.kind, question.stage, question.number)
    return next(
        (each.answer for each in reversed(kept_answers(run_dir)) if (each.kind, each.stage, each.number) == name), None
    )
