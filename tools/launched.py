"""What a candidate's process tells of its launches: kernels to compile, and with what they were launched."""

from typing import Any

from pydantic import Field

from egg.state.launch import Argument, Tried
from egg.state.record import Record


class Job(Record):
    """A kernel past Triton's first stage. Where it stands in a file is kept apart, so that equal kernels are equal."""

    name: str
    ttir: str = Field(description="Its locations name `lines` by their place in the list, from 1")
    options: dict[str, Any] = Field(description="Of the compiler, all of them")
    lines: tuple[int, ...] = Field(description="Lines of the candidate's source")


class Seen(Record):
    """Equal launches of a pass."""

    job: int = Field(ge=0, description="Number of the kernel, in the order in which kernels were told of")
    kernel: str = Field(max_length=200)
    grid: tuple[int, int, int]
    stages: int
    calls: int = Field(1, ge=1)
    bytes: int = Field(description="Distinct tensor bytes that the arguments span")
    load_bytes: float
    store_bytes: float
    dots: dict[str, float]
    alu: float
    elementwise: float
    step_bytes: float
    steps: float
    loops: tuple[float, ...] = Field((), description="Turns of each loop when it is entered once")
    by_line: dict[int, tuple[float, float]] = Field(description="Bytes loaded and stored by place in the job's `lines`")
    arguments: tuple[Argument, ...] = ()
    options: dict[str, str] = Field({}, max_length=64)
    configs: tuple[Tried, ...] = ()
