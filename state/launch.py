"""What is known of a candidate's kernel launches without running them on a GPU."""

from typing import Any, Self

from pydantic import Field, model_validator

from egg.state.record import Record

BRIEF_NOTES = 4
"""Notes of a launch that are kept where room is scarce."""


class Argument(Record):
    """One argument of a launch: its type and what Triton specialised on, or the value of a constexpr."""

    name: str = Field(max_length=200)
    type: str = Field(max_length=200, description="`*fp32`, `i32`, `tensordesc<fp16[128, 64]>`; `constexpr`")
    divisible_by_16: bool = Field(False, description="Of a pointer's address or an integer, and compiled in")
    value: str | None = Field(
        None, max_length=200, description="Of a constexpr, as text; of an integer too, `1` being compiled in"
    )


class SourceNote(Record):
    """A line of the candidate's source that costs something."""

    line: int
    text: str
    why: str = Field(description="`spills 24 B in 6 accesses`, `loads 16 bits a thread`")


class Tried(Record):
    """One configuration of an autotuned kernel: all of them are compiled, the best predicted one is launched."""

    values: dict[str, str] = Field(max_length=64, description="Constexprs that the configuration sets")
    warps: int
    stages: int
    status: str = Field("compiled", description="`compiled`, `does not fit`, or `failed`")
    why: str = Field("", max_length=400)
    registers: int = 0
    spills: int = 0
    shared_bytes: int = 0
    occupancy: float = 0.0
    limiter: str = ""
    estimate_ms: float | None = None
    chosen: bool = False


class Launch(Record):
    """One kernel launch of a forward pass, compiled ahead of time for the target. Equal launches are one, with `calls`.

    All but `calls` is of a single launch, `estimate_ms` and the work too.
    """

    kernel: str
    grid: tuple[int, ...]
    warps: int
    stages: int
    registers: int = Field(description="Per thread")
    spills: int = Field(description="Bytes spilled to local memory per thread")
    shared_bytes: int = Field(description="Per block")
    occupancy: float = Field(ge=0, le=1, description="Resident warps over the most a multiprocessor holds")
    limiter: str = Field(description="What bounds the occupancy: registers, shared, warps, blocks")
    waves: float = Field(description="Grid over the blocks resident on the whole GPU")
    bytes: int = Field(description="Distinct tensor bytes that the launch's arguments span")
    tensor_core: str = Field("none", description="tcgen05, wgmma, mma, mfma or none")
    estimate_ms: float = Field(description="Predicted, never measured")
    calls: int = Field(1, ge=1, description="Equal launches of the pass")
    arguments: tuple[Argument, ...] = ()
    options: dict[str, str] = Field({}, description="What the launch asks of the compiler, where it is not the usual")
    stack_bytes: int = Field(0, description="Local memory of a thread: its stack, spilled registers within it")
    bulk: bool = Field(False, description="TMA moves tiles, so that those have no width of a thread")
    load_bits: int | None = Field(None, description="Commonest width of a thread's loads from global memory")
    store_bits: int | None = None
    narrowest_load_bits: int | None = Field(
        None, description="Of the loads that move more than a hundredth of the bytes"
    )
    narrowest_store_bits: int | None = None
    flops: dict[str, float] = Field(
        {}, description="By the precision whose unit does them; fp32: also elementwise work"
    )
    loaded_bytes: float = Field(0.0, description="All programs together, each load counted")
    stored_bytes: float = 0.0
    guessed: bool = Field(False, description="A loop turns as its data have it: bytes and FLOPs are at least these")
    notes: tuple[SourceNote, ...] = ()
    configs: tuple[Tried, ...] = Field((), description="Of an autotuned kernel, in its order")

    def details(self) -> list[str]:
        """Lines of the source that cost something, and what autotuning chose from, for a person or a model."""
        lines = [f"line {note.line} `{note.text}` {note.why}" for note in self.notes[:BRIEF_NOTES]]
        if self.configs:
            best = next((each for each in self.configs if each.chosen), None)
            bad = sum(each.status != "compiled" for each in self.configs)
            values = ", ".join(f"{name}={value}" for name, value in best.values.items()) if best else ""
            taken = f"; predicted best: {values}, {best.warps} warps, {best.stages} stages" if best else ""
            lines.append(f"{len(self.configs)} configurations, {bad} of them cannot be launched{taken}")
        return lines

    def brief(self) -> Self:
        """Without what only a person reads."""
        return self.model_copy(update={"arguments": (), "configs": (), "notes": self.notes[:BRIEF_NOTES]})


class StaticProfile(Record):
    """What can be known of a candidate without running it on a GPU."""

    target: str
    launches: tuple[Launch, ...]
    torch_ops: tuple[str, ...] = Field((), description="Compute that PyTorch, not the candidate's Triton, does")
    torch_share: float = Field(0.0, ge=0, le=1, description="Predicted share of the GPU time that it takes to compute")
    torch_ms: float | None = Field(
        None, ge=0, description="Predicted GPU time of all that PyTorch does, moving data too; None of older profiles"
    )
    unlisted_ms: float = Field(0.0, ge=0, description="Predicted GPU time of launches that are not listed")
    estimate_ms: float = Field(description="Predicted time of a forward pass, for ranking only")

    @model_validator(mode="before")
    @classmethod
    def _of_older_runs(cls, told: Any) -> Any:
        """Profiles once said in a word what bounds them."""
        return {name: value for name, value in told.items() if name != "bottleneck"} if isinstance(told, dict) else told

    def brief(self) -> Self:
        """As it is kept in a run's state, whose checkpoints are to stay small."""
        return self.model_copy(update={"launches": tuple(launch.brief() for launch in self.launches)})
