"""How fast a GPU is at best: rates to hold a kernel's own against."""

from pydantic import Field

from egg.state.record import Record

PRECISIONS = ("fp32", "tf32", "tf32x3", "fp16", "bf16", "fp8", "int8")
"""Of `Ceilings.matrix`. `tf32x3`: three TF32 products for one of fp32 accuracy, counted as one."""


class Ceilings(Record):
    """Rates that a simple kernel reached on the GPU itself, or what a datasheet promises."""

    copy_rate: float = Field(gt=0, description="Device memory read and written at once, bytes of both a second")
    read_rate: float = Field(gt=0, description="Device memory only read, bytes a second")
    l2_rate: float = Field(gt=0, description="Read again and again from the second-level cache, bytes a second")
    matrix: dict[str, float] = Field(description="FLOP/s of a large product, by precision; what failed is left out")
    measured: bool = Field(description="False: from the datasheet, which no kernel quite reaches")
    how: str = Field(description="How they came about, and what is missing, for a person")

    @property
    def memory(self) -> float:
        """Bytes a second that device memory gives at best, whether it is read only or written too."""
        return max(self.copy_rate, self.read_rate)
