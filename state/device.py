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

    @property
    def amd(self) -> bool:
        return self.target.startswith("gfx")

    @property
    def warp(self) -> int:
        """Threads that go in step: a warp, or a wavefront of CDNA."""
        return 64 if self.amd else 32

    @property
    def capability(self) -> tuple[int, int]:
        """As PyTorch tells it: (9, 0) of `sm_90`, (9, 4) of `gfx942`."""
        if self.amd:
            return int(self.target[3:-2]), int(self.target[-2], 16)
        return divmod(int(self.target.removeprefix("sm_")), 10)
