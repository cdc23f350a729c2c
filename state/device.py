"""The GPU that a kernel is for."""

from pydantic import Field

from egg.state.record import Record


class Device(Record):
    """Limits and rates of a GPU. `present` says whether it is in this machine or only compiled for."""

    name: str
    target: str = Field(description="`sm_90`")
    present: bool
    uuid: str | None = None
    driver: str | None = None
    multiprocessors: int
    shared_bytes: int = Field(description="Shared memory a block may use, bytes")
    shared_bytes_sm: int = Field(description="Shared memory of a multiprocessor, bytes")
    registers_sm: int
    threads_sm: int
    blocks_sm: int
    l2_bytes: int
    memory_bytes: int
    bandwidth: float = Field(description="Device memory, bytes per second")
    peak: dict[str, float] = Field(description="FLOP/s by precision: fp32, tf32, fp16, bf16, int8")
    rates_from: str = Field(description="`datasheet`, or how the rates were measured")
    software: dict[str, str] = Field(description="Versions of torch, triton, python, cuda")
