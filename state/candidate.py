"""A kernel on its way through the run."""

from hashlib import sha256

from pydantic import Field

from egg.state.evaluation import Evaluation
from egg.state.record import Record
from egg.state.search import SearchSpace


def kernel_id(source: str) -> str:
    """Content address of a kernel: the first twelve hex digits of its SHA-256."""
    return sha256(source.encode()).hexdigest()[:12]


class Candidate(Record):
    """A source that defines `ModelNew`, where it came from, and its verdict."""

    source: str
    origin: str = Field(description="The stage or seed that made it: `seed-1`, `tiling`")
    structure: str = Field(description="Its algorithmic structure, as the seed was told")
    rationale: str = ""
    space: SearchSpace | None = Field(None, description="What its author says may be chosen freely")
    evaluation: Evaluation | None = None

    @property
    def id(self) -> str:
        """Its content address."""
        return kernel_id(self.source)

    @property
    def rank_ms(self) -> float:
        return self.evaluation.rank_ms if self.evaluation else float("inf")


class Attempt(Record):
    """All that is kept of a candidate once its stage is over: one line."""

    id: str
    origin: str
    number: int = Field(0, description="The round of its stage that made it")
    status: str
    rank_ms: float | None = None
    change: str = ""
    note: str = Field("", description="First line of the judge's feedback")
