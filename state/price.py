"""What a model's tokens cost."""

from datetime import date

from pydantic import Field

from egg.state.record import Record
from egg.state.usage import NANO

MILLION = 1_000_000


class Price(Record):
    """One entry of the price table. US dollars for a million tokens."""

    model: str = Field(description="As in `--model`: `openai:gpt-5.1`; dated snapshots of it cost the same")
    host: str | None = Field(None, description="Host of `--base-url` that it holds for; none: the provider's own")
    input: float = Field(ge=0)
    cached: float | None = Field(None, ge=0, description="Input read from the provider's cache; none: as other input")
    written: float | None = Field(None, ge=0, description="Input written into the cache; none: as other input")
    output: float = Field(ge=0, description="Reasoning included")
    source: str = Field(description="The page that says so")
    read: date = Field(description="When it said so")
    note: str = ""

    def told(self) -> str:
        """The figures in a line."""
        kinds = {"in": self.input, "cached": self.cached, "written": self.written, "out": self.output}
        return ", ".join(f"{figure:g} {kind}" for kind, figure in kinds.items() if figure is not None)

    def where(self) -> str:
        """Who says so, and when."""
        return f"{self.source}, {self.read}{f'; {self.note}' if self.note else ''}"

    def nano_usd(self, input_tokens: int, cached: int = 0, written: int = 0, output_tokens: int = 0) -> int:
        """Billionths of a dollar for one answer. `cached` and `written` are parts of the input."""
        plain = max(0, input_tokens - cached - written)
        usd = (
            plain * self.input
            + cached * (self.input if self.cached is None else self.cached)
            + written * (self.input if self.written is None else self.written)
            + output_tokens * self.output
        )
        return round(usd / MILLION * NANO)
