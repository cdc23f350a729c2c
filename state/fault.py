"""What is wrong with a candidate, typed: for the agent that repairs it, and for whoever counts failures."""

from pydantic import Field

from egg.state.record import Record
from egg.state.status import Status


class Span(Record):
    """Where along one dimension the wrong elements lie."""

    dim: int
    low: int
    high: int = Field(description="Inclusive")
    size: int


class Fault(Record):
    """One thing that is wrong. Fields that do not apply keep their defaults."""

    kind: Status
    text: str = Field(description="The same in words, one or a few lines")
    case: str = Field("", description="The inputs that show it: `heavy (4 of 5)`")
    output: str = Field("", description="`output`, `output[1]`, `buffer running_mean`")
    shape: tuple[int, ...] = ()
    wrong: int = Field(0, description="Elements that are wrong")
    total: int = 0
    error: float | None = Field(None, description="RMS of the difference over RMS of the oracle")
    budget: float | None = None
    reference_error: float | None = None
    first: tuple[int, ...] | None = Field(None, description="Index of the first wrong element")
    found: float | None = Field(None, description="The candidate's value there")
    expected: float | None = Field(None, description="The exact value there")
    region: tuple[Span, ...] = Field((), description="Dimensions along which only a part is wrong")
    tail: bool = Field(False, description="Whether the wrong part ends where the tensor ends: a mask, most likely")
    look: str = Field("", description="What the output looks like: all zeros, a multiple of the right one, ...")
    line: int | None = Field(None, description="Line of the candidate's source")


class HeldOut(Record):
    """How it does where the problem does not ask: told, never held against it."""

    sizes: dict[str, int] = Field(description="Constants of the problem that were changed; none: the problem's own")
    why: str = Field(description="`ragged`, `prime`, `one`, `larger`, or `strided`: inputs that are not contiguous")
    status: Status | None = Field(description="None: the reference itself cannot be run so")
    feedback: str = ""
