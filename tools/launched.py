"""What a candidate's process tells of its launches: kernels to compile, and with what they were launched."""

from typing import Annotated, Any, Literal

from pydantic import Field

from egg.state.launch import Argument, Tried
from egg.state.record import Record

Size = Annotated[int, Field(ge=1, lt=1 << 31)]
"""Of a grid's dimension."""
Amount = Annotated[float, Field(ge=0, le=1e100, allow_inf_nan=False)]
"""What an honest count may be, and the estimate can reckon with."""
Turns = Annotated[float, Field(ge=0, le=1e20, allow_inf_nan=False)]
Unit = Literal["fp32", "tf32", "fp16", "bf16", "fp8", "int8"]


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
    grid: tuple[Size, Size, Size]
    stages: int = Field(ge=0, lt=1 << 31)
    calls: int = Field(1, ge=1, lt=1 << 31)
    bytes: int = Field(ge=0, lt=1 << 63, description="Distinct tensor bytes that the arguments span")
    load_bytes: Amount
    store_bytes: Amount
    dots: dict[Unit, Amount]
    alu: Amount
    elementwise: Amount
    step_bytes: Amount
    steps: Amount
    guessed: bool = Field(False, description="Loops that depend on data were taken as one turn")
    loops: tuple[Turns, ...] = Field((), description="Turns of each loop when it is entered once")
    by_line: dict[int, tuple[Amount, Amount]] = Field(
        description="Bytes loaded and stored by place in the job's `lines`"
    )
    arguments: tuple[Argument, ...] = ()
    options: dict[str, str] = Field({}, max_length=64)
    configs: tuple[Tried, ...] = ()
