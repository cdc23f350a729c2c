"""What a run has spent: calls, tokens, money by agent; wall and GPU time by stage. Integers, so that sums are exact."""

from typing import Self

from pydantic import Field

from egg.state.record import Record
from egg.state.settings import Limits

NANO = 1_000_000_000
"""Money is counted in billionths of a US dollar: a cached token of the cheapest model costs a few of them."""


class _Sum(Record):
    """A record of integers that add up field by field."""

    def __add__(self, other: Self) -> Self:
        return type(self)(**{name: getattr(self, name) + getattr(other, name) for name in type(self).model_fields})


class Spend(_Sum):
    """Sums for one agent in one stage."""

    calls: int = Field(0, description="Answers")
    free: int = Field(0, description="Of these, the rulebook's own, which nobody bills")
    replayed: int = Field(0, description="Of these, from a recording: billed once, when that was made")
    retries: int = Field(0, description="Further requests that transient faults of the provider made necessary")
    failed: int = Field(0, description="Requests without an answer, whether or not a later one had more luck")
    unsure: int = Field(0, description="Of these, what a provider may bill: timed out, broken off, unreadable")
    unsure_tokens: int = Field(0, description="Input tokens of those requests, as counted here")
    unsure_nano_usd: int = Field(0, description="What those tokens would cost")
    input_tokens: int = Field(0, description="All input, read from the provider's cache or not")
    cached_tokens: int = Field(0, description="Of the input, what the provider read from its cache")
    written_tokens: int = Field(0, description="Of the input, what the provider wrote into its cache")
    output_tokens: int = Field(0, description="All output, reasoning included")
    reasoning_tokens: int = Field(0, description="Of the output, reasoning, where the provider says so")
    untold: int = Field(0, description="Answers whose tokens were counted here, since the provider did not say")
    nano_usd: int = Field(0, description="Price of the answers by the table, in billionths of a dollar")
    replayed_nano_usd: int = Field(0, description="Of it, the price of replayed answers")
    priced: int = Field(0, description="Answers whose price the table tells")
    sent_tokens: int = Field(0, description="Everything sent, as counted here, tools included")
    own_tokens: int = Field(0, description="Length of the conversations, which a run without pruning would carry on")
    model_ms: int = Field(0, description="Waited for the model")

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def paid_calls(self) -> int:
        """Answers that a provider billed in this run."""
        return self.calls - self.free - self.replayed

    @property
    def usd(self) -> float:
        """Price of the answers that were billed in this run, as far as prices are known."""
        return (self.nano_usd - self.replayed_nano_usd) / NANO

    @property
    def unpriced(self) -> int:
        """Answers of models that the table has no price for."""
        return max(0, self.calls - self.free - self.priced)

    @property
    def money(self) -> str:
        """The price of what was billed in this run, in words; an unknown one is not zero."""
        known = f"${self.usd:.4f}" if self.paid_calls and self.priced else ""
        plural = "s" if self.unpriced > 1 else ""
        unknown = f"{self.unpriced} call{plural} of unknown price" if self.paid_calls and self.unpriced else ""
        billed = self.unsure_nano_usd and not self.replayed
        unsure = f"up to ${self.unsure_nano_usd / NANO:.4f} more for failed requests" if billed else ""
        return ", ".join(part for part in (known, unknown, unsure) if part)

    def told(self) -> str:
        """The bill in a line."""
        parts = [f"{self.calls} model call{'s' * (self.calls != 1)}"]
        own = [(self.free, "by the rulebook"), (self.replayed, "replayed"), (self.retries, "asked again")]
        if aside := ", ".join(f"{number} {what}" for number, what in own if number):
            parts[0] += f" ({aside})"
        tokens = f"{self.input_tokens} tokens in"
        tokens += f" ({self.cached_tokens} of them cached)" if self.cached_tokens else ""
        tokens += f", {self.output_tokens} out"
        tokens += f" ({self.reasoning_tokens} of them reasoning)" if self.reasoning_tokens else ""
        parts += [tokens, self.money, f"{self.model_ms / 1000:.1f} s of model time"]
        return ", ".join(part for part in parts if part)

    def short(self) -> str:
        """The bill in a few words."""
        tokens = f"{self.tokens} tokens" if self.tokens else ""
        return ", ".join(part for part in (f"{self.calls} call{'s' * (self.calls != 1)}", tokens, self.money) if part)

    def as_replayed(self) -> "Spend":
        """The same bill from a recording: it counts towards the caps as it did then, and nobody pays it again."""
        return self.model_copy(update={"replayed": self.calls - self.free, "replayed_nano_usd": self.nano_usd})


class Work(_Sum):
    """What one stage, or a node of the run, took."""

    wall_ms: int = Field(0, description="Active time from its start to its end; stages side by side overlap")
    gpu_ms: int = Field(0, description="Of it, time in which it held the GPU, alone or beside other checks")


class Usage(Record):
    """Spend by `stage/agent`, work by stage."""

    by_agent: dict[str, Spend] = Field(default_factory=dict)
    by_stage: dict[str, Work] = Field(default_factory=dict)

    def __add__(self, other: "Usage") -> "Usage":
        agents, stages = sorted({*self.by_agent, *other.by_agent}), sorted({*self.by_stage, *other.by_stage})
        return Usage(
            by_agent={n: self.by_agent.get(n, Spend()) + other.by_agent.get(n, Spend()) for n in agents},
            by_stage={n: self.by_stage.get(n, Work()) + other.by_stage.get(n, Work()) for n in stages},
        )

    @property
    def total(self) -> Spend:
        return sum(self.by_agent.values(), Spend())

    @property
    def gpu_ms(self) -> int:
        return sum(work.gpu_ms for work in self.by_stage.values())

    def over(self, limits: Limits, minutes: float) -> str | None:
        """Name of the first cap that is reached, or None. `minutes` is the wall time since the run began.

        What a provider may have billed for failed requests counts as if it had.
        """
        total = self.total
        if total.calls + total.unsure >= limits.calls:
            return f"model calls ({limits.calls})"
        if total.tokens + total.unsure_tokens >= limits.tokens:
            return f"tokens ({limits.tokens})"
        if limits.usd is not None and total.nano_usd + total.unsure_nano_usd >= limits.usd * NANO:
            return f"money (${limits.usd:g})"
        if limits.gpu_minutes is not None and self.gpu_ms >= limits.gpu_minutes * 60_000:
            return f"GPU time ({limits.gpu_minutes:g} min)"
        if minutes >= limits.minutes:
            return f"wall time ({limits.minutes:g} min)"
        return None
