"""Whose code does the work: the candidate's own Triton kernels, or PyTorch and its libraries."""

from typing import Literal

from pydantic import Field

from egg.state.record import Record

Label = Literal["triton", "partly_triton", "not_triton"]
Kind = Literal["own", "library", "copy", "fill"]


class KernelTime(Record):
    """GPU time of one kernel in a forward pass."""

    name: str
    ms: float = Field(ge=0, description="All its calls of one forward pass together")
    calls: int = Field(description="In one forward pass")
    own: bool = Field(description="Launched through one of the candidate's own @triton.jit functions")
    kind: Kind = Field("own", description="`library`: PyTorch, cuBLAS; `copy`, `fill`: theirs too, no arithmetic")
    grid: tuple[int, ...] = Field((), description="Of an own kernel, each on its own; others are summed over theirs")


class Ownership(Record):
    """Where the GPU time of a forward pass goes. `partly_triton` stands beside a verdict, `not_triton` is one."""

    label: Label
    share: float | None = Field(
        None, ge=0, le=1, description="Own kernels' time over all GPU time; None where no GPU was there to measure it"
    )
    estimated_share: float | None = Field(None, ge=0, le=1, description="The same, predicted from the static profile")
    own_ms: float | None = None
    other_ms: float | None = Field(None, description="Library kernels, without copies and fills")
    moved_ms: float | None = Field(None, description="Copies and fills, which compute nothing")
    kernels: tuple[KernelTime, ...] = Field((), description="Longest first")
    torch_ops: tuple[str, ...] = Field((), description="PyTorch operators that compute, from the static profile")
    launched: tuple[str, ...] = Field((), description="Own kernels that judged calls launched, without a GPU")
    idle: bool | None = Field(None, description="Whether leaving all launches out changed nothing")
    how: Literal["cupti", "events", "static"] = "static"
    note: str = Field("", description="What did not agree between two ways of looking")

    def told(self) -> str:
        """One line for a person."""
        if self.share is None:
            said = f"{self.label}, by the operators of its static profile and of the calls that were judged"
            return f"{said}; {self.note}" if self.note else said
        return f"{self.label}: {self.share:.1%} of the GPU time is in its own Triton kernels"
