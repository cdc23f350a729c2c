"""What a run asks a person, and what a person may answer. Both travel as plain JSON through LangGraph's `interrupt`."""

import json
from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from egg.state.record import Record

LONGEST = 4000
"""Characters of a text by a person: it stays in state and goes into prompts."""


class Pause(StrEnum):
    """When a run waits for a person."""

    NEVER = "never"
    STAGES = "stages"
    """Before each seed and each tuning stage."""
    DECISIONS = "decisions"
    """On each line of the ledger, before it is in force."""
    BOTH = "both"

    @property
    def before_stages(self) -> bool:
        return self in (Pause.STAGES, Pause.BOTH)

    @property
    def on_decisions(self) -> bool:
        return self in (Pause.DECISIONS, Pause.BOTH)


class Action(StrEnum):
    """What a person can do about a question."""

    APPROVE = "approve"
    EDIT = "edit"
    """Say the decision in other words. Numbers and kernels are nobody's to edit."""
    REFUSE = "refuse"
    HINT = "hint"
    """Tell the stage's agents something, and let them work with it."""


class Answer(Record):
    """A person's answer: an object, the same as JSON text, or words: `approve`, `hint split the rows over programs`."""

    action: Action
    text: str = Field("", max_length=LONGEST, description="The hint, or the reason")
    what: str | None = Field(None, min_length=1, max_length=LONGEST, description="`edit`: what was decided, reworded")
    why: str | None = Field(None, min_length=1, max_length=LONGEST, description="`edit`: the reason, reworded")

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: Any) -> Any:
        if isinstance(given, (dict, Answer)):
            return given
        if not isinstance(given, str):
            raise ValueError("an answer is an object or words")
        if given.lstrip().startswith("{"):
            return json.loads(given)  # a ValueError, as any other that is wrong here
        word, _, rest = given.strip().partition(" ")
        meant = [action for action in Action if word and action.startswith(word.lower())]
        if not meant:
            raise ValueError(f"`{word}` is no answer" if word else "that is no answer")
        action, rest = meant[0], rest.strip()
        return {"action": action, **({"what": rest} if action is Action.EDIT and rest else {"text": rest})}

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.action is Action.HINT and not self.text.strip():
            raise ValueError("a hint needs its text: `hint TEXT`")
        if self.action is Action.EDIT and not (self.what or self.why):
            raise ValueError("an edit needs the new words: `edit TEXT`, or `what` or `why` of the JSON form")
        if self.action is not Action.EDIT and (self.what or self.why):
            raise ValueError("`what` and `why` go with `edit`")
        return self


class Question(Record):
    """One thing that a run asks. `fault` says what was wrong with the answer before, if there was one."""

    kind: Literal["stage", "decision"]
    stage: str = Field(description="The stage, or `seed-1`; unique among the questions asked at one time")
    number: int = Field(0, description="How many hints the stage has had, so that a question has a name of its own")
    asks: str = Field(description="One sentence for a person")
    goal: str = Field("", description="What the stage is for, and what it starts from")
    decision: dict[str, Any] | None = Field(None, description="The line of the ledger that is to be decided")
    ledger: tuple[str, ...] = Field((), description="What has been decided before")
    hints: tuple[str, ...] = Field((), description="What the stage's agents have been told by a person")
    answers: dict[Action, str] = Field(description="The possible answers, and what each does")
    fault: str | None = None

    def accept(self, given: object) -> Answer:
        """The answer, if it is one of those possible.

        Raises:
            ValueError: saying in one line what is wrong with it.
        """
        try:
            answer = Answer.model_validate(given)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            what = f"{where + ': ' if where else ''}{first['msg'].removeprefix('Value error, ')}"
            raise ValueError(f"{what}; possible here: {', '.join(self.answers)}") from None
        if answer.action not in self.answers:
            raise ValueError(f"{answer.action} is not possible here: {', '.join(self.answers)}")
        return answer
