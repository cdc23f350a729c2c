"""What the models were sent, beside what they would have been sent had no stage's conversation ever been dropped."""

from pydantic import Field

from egg.state.record import Record


class StageContext(Record):
    """The requests of one stage or seed."""

    stage: str
    calls: int
    sent: int = Field(description="Input tokens of its requests")
    unpruned: int = Field(description="The same, were every earlier stage's messages still in the context")

    @property
    def share(self) -> float:
        """What is left of the context."""
        return self.sent / self.unpruned


class Pruning(Record):
    """Every stage that asked a model, in order."""

    stages: tuple[StageContext, ...]
    how: str = Field(description="How the tokens were counted")

    @property
    def sent(self) -> int:
        return sum(stage.sent for stage in self.stages)

    @property
    def unpruned(self) -> int:
        return sum(stage.unpruned for stage in self.stages)
