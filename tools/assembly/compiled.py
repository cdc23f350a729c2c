"""What the compiler made of one kernel for one target."""

from pydantic import Field

from egg.state.record import Record
from egg.tools.instructions import Effort


class Access(Record):
    """Instructions of one width that move data between a thread and device memory, on one line of the source."""

    line: int = Field(description="0: unknown")
    bits: int
    count: int = 1


class Spill(Record):
    """Instructions on one line that put registers into local memory, or fetch them back."""

    line: int
    bytes: int = Field(description="Of a thread, all these instructions together")
    count: int


class Compiled(Record):
    """Resources, and how the kernel reaches memory. Lines are those that the IR names."""

    registers: int = Field(0, description="Per thread; on AMD vector registers, accumulation registers among them")
    spills: int = Field(0, description="Bytes of a thread's spilled registers")
    stack_bytes: int = Field(0, description="Local memory of a thread, spilled registers within it")
    shared_bytes: int = 0
    tensor_memory: int = Field(0, description="Columns of sm_100's tensor memory")
    warps: int = Field(1, description="Of a block, those that warp specialisation adds among them")
    tensor_core: str = "none"
    bulk: bool = Field(False, description="TMA moves tiles: no thread has a width")
    loads: tuple[Access, ...] = ()
    stores: tuple[Access, ...] = ()
    spilled: tuple[Spill, ...] = ()
    effort: tuple[Effort, ...] = Field((), description="What a warp issues, by the loops around it; (): not known")
    spread: float = Field(1.0, ge=1, description="Cache lines that global accesses touch, over the fewest")
    failed: str = Field("", description="Why the compiler refuses it; then nothing else holds")
    by_ptxas: bool = Field(False, description="It was ptxas that refused: an autotuner passes over such configurations")

    @property
    def ok(self) -> bool:
        return not self.failed
