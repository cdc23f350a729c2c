"""A run's questions at the command line: shown, asked in a terminal, or answered by `egg resume RUN --answer`."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

from rich.console import Console
from rich.text import Text

from egg.state.errors import UserError
from egg.state.pause import Action, Question

WAITS = 3
"""Exit code of a run that has a question and nobody there to ask."""
USAGE = {
    Action.APPROVE: "approve",
    Action.EDIT: "edit TEXT",
    Action.REFUSE: "refuse [WHY]",
    Action.HINT: "hint TEXT",
}


class Asked(Protocol):
    """LangGraph's `Interrupt`."""

    @property
    def id(self) -> str: ...

    @property
    def value(self) -> Any: ...


Resume = dict[str, dict[str, Any]]
"""What goes into `Command(resume=...)`: the answers by the ids of their questions."""


def answered(given: Sequence[str], asked: Sequence[Asked]) -> Resume:
    """Answers from the command line: `ANSWER` to the only question, `STAGE=ANSWER` to one of several.

    Raises:
        UserError: nothing is asked, it is not said what an answer is to, or it is not possible there.
    """
    if not asked:
        raise UserError("the run asks nothing now: leave --answer out")
    questions = {(question := question_of(each)).stage: (each.id, question) for each in asked}
    answers: Resume = {}
    for text in given:
        stage, sign, rest = text.partition("=")
        if not sign or stage not in questions:
            if len(questions) > 1:
                raise UserError(f"--answer {text}: say which question it is to, as {_example(questions)}")
            (stage,), rest = questions, text
        number, question = questions[stage]
        if number in answers:
            raise UserError(f"--answer {text}: {stage} has an answer already")
        try:
            answers[number] = question.accept(rest).model_dump(mode="json", exclude_defaults=True)
        except ValueError as error:
            raise UserError(f"--answer {text}: {error}") from None
    return answers


def at_terminal() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask(asked: Sequence[Asked], run_dir: str) -> Resume | None:
    """Every question in turn, in the terminal; None if whoever sits there closed it instead of answering."""
    console = Console(highlight=False)
    answers: Resume = {}
    for each in asked:
        question = question_of(each)
        show_question(console, question, run_dir)
        while each.id not in answers:
            try:
                answer = question.accept(input(f"{question.stage}> "))
            except EOFError:
                console.print()
                return None
            except ValueError as error:
                console.print(f"  {error}", markup=False)
            else:
                answers[each.id] = answer.model_dump(mode="json", exclude_defaults=True)
    return answers


def show_question(console: Console, question: Question, run_dir: str) -> None:
    """The question, what it rests on, and the possible answers."""
    console.print()
    console.print(Text(question.asks, style="bold"), soft_wrap=True)
    decision = question.decision or {}
    facts = [(name, str(decision[name])) for name in ("why", "evidence") if decision.get(name)]
    facts += [("tried", line) for line in decision.get("tried", ())]
    if decision.get("kernel"):
        facts.append(("kernel", str(Path(run_dir) / "kernels" / f"{decision['kernel']}.py")))
    if question.kind == "stage":
        facts += [("goal", question.goal), *(("decided", line) for line in question.ledger)]
    facts += [("hint", hint) for hint in question.hints]
    for name, told in facts:
        console.print(Text(f"  {name}: {told}"), soft_wrap=True)
    for action, effect in question.answers.items():
        console.print(Text(f"  {USAGE[action]:14}{effect}", style="dim"), soft_wrap=True)


def leave_waiting(reference: str, asked: Sequence[Asked], run_dir: str) -> NoReturn:
    """End with the questions that nobody here answers, and with how they can be."""
    if not at_terminal():
        for each in asked:
            show_question(Console(highlight=False), question_of(each), run_dir)
    print(f"\nWaits for an answer. Go on with: {onward(reference, asked)}", file=sys.stderr)
    raise SystemExit(WAITS)


def onward(reference: str, asked: Sequence[Asked]) -> str:
    """The command that goes on, ready to be copied."""
    questions = {question.stage: ("", question) for question in map(question_of, asked)}
    return f"egg resume {shlex.quote(reference)} {_example(questions)}"


def question_of(asked: Asked) -> Question:
    """What LangGraph carried as plain JSON."""
    return Question.model_validate(asked.value)


def _example(questions: dict[str, tuple[str, Question]]) -> str:
    if len(questions) == 1:
        return "--answer approve"
    return " ".join(f"--answer {stage}=approve" for stage in sorted(questions))
