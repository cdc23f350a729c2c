"""The task: a PyTorch module, and what it costs."""

from pydantic import Field

from egg.state.record import Record


class TensorSpec(Record):
    """Shape and type of one tensor."""

    shape: tuple[int, ...]
    dtype: str = Field(description="Without the `torch.` prefix: `float32`")


class Problem(Record):
    """A problem file in KernelBench's format, as it was when the run began."""

    name: str = Field(description="The file's stem")
    path: str
    source: str
    small_source: str | None = Field(
        None, description="The same file with its sizes made small, for the interpreter; None if they cannot be"
    )
    small_constants: dict[str, int] = Field(default_factory=dict, description="The constants that were rewritten")
    digest: str = Field(description="SHA-256 of the source")


class Region(Record):
    """A part of the module that one kernel can compute."""

    name: str = Field(description="Unique within the problem: `r0_layer_norm`")
    kind: str = Field(description="`pointwise`, `gemm`, `attention`, ..., or `torch`: stays a PyTorch call")
    ops: tuple[str, ...] = Field(description="ATen operators covered, in order")
    note: str = Field("", description="For `torch` regions: why no kernel is written")


AT_STOCK = "at KernelBench's tolerance of 1e-4: "
"""Begins what makes a problem a poor test under that tolerance alone."""
NEEDS_NOTHING = ("zeros pass", "the output does not depend", "every element", "the output holds no finite", "constant")


class Workload(Record):
    """What the module computes, read from a trace on fake tensors at full size."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    parameters: int = Field(description="Trainable and buffer elements")
    flops: int = Field(description="Floating-point operations of one forward pass, multiply and add counted apart")
    matmul_flops: int = Field(description="The part of `flops` that matrix units can do")
    min_bytes: int = Field(description="Every input, parameter and output moved once")
    regions: tuple[Region, ...]
    structures: tuple[str, ...] = Field(description="Algorithmic structures worth a seed, best guess first")
    degenerate: tuple[str, ...] = Field((), description="Why the problem is a poor test: constant output, ...")

    @property
    def needs_no_inputs(self) -> bool:
        """Whether the right answer may need none of the inputs, so that no time is too short for it."""
        return any(reason.startswith(NEEDS_NOTHING) for reason in self.degenerate)
