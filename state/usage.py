"""What a run has spent."""

from pydantic import Field

from egg.state.record import Record
from egg.state.settings import Limits


class Spend(Record):
    """Sums for one agent in one stage. Integers, so that adding is exact whatever the order."""

    calls: int = 0
    retries: int = Field(0, description="Further requests that transient faults of the provider made necessary")
    input_tokens: int = 0
    output_tokens: int = 0
    model_ms: int = 0

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(**{name: getattr(self, name) + getattr(other, name) for name in Spend.model_fields})


class Usage(Record):
    """Spend by `stage/agent`."""

    by_agent: dict[str, Spend] = Field(default_factory=dict)

    def __add__(self, other: "Usage") -> "Usage":
        names = sorted({*self.by_agent, *other.by_agent})
        return Usage(by_agent={n: self.by_agent.get(n, Spend()) + other.by_agent.get(n, Spend()) for n in names})

    @property
    def total(self) -> Spend:
        return sum(self.by_agent.values(), Spend())

    def over(self, limits: Limits, minutes: float) -> str | None:
        """Name of the first cap that is reached, or None. `minutes` is the wall time since the run began."""
        total = self.total
        if total.calls >= limits.calls:
            return f"model calls ({limits.calls})"
        if total.input_tokens + total.output_tokens >= limits.tokens:
            return f"tokens ({limits.tokens})"
        if minutes >= limits.minutes:
            return f"wall time ({limits.minutes:g} min)"
        return None
