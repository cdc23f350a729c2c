"""How wrong the estimate is known to be."""

from pydantic import Field

from egg.state.record import Record

UNKNOWN = "how wrong it is has not been measured"


class EstimateError(Record):
    """What measuring beside it has shown, on one GPU."""

    gpu: str
    target: str
    date: str
    commit: str
    points: int = Field(gt=0, description="Kernels with other numbers, predicted and timed")
    kernels: int = Field(gt=0)
    factor: float = Field(ge=1, description="By which a prediction is off, typically: the median")
    nine_of_ten: float = Field(ge=1, description="Factor within which nine of ten predictions are")
    spearman: float = Field(ge=-1, le=1, description="Rank correlation within a kernel, in the middle of all kernels")
    spearman_least: float = Field(ge=-1, le=1)

    def told(self, target: str) -> str:
        """One line for a reader who sees an estimate for `target`."""
        elsewhere = "" if target == self.target else f"; not measured on {target}"
        return (
            f"off by a factor of {self.factor:.2f} typically, nine of ten within {self.nine_of_ten:.2f}; rank "
            f"correlation within a kernel {self.spearman:.2f}, at worst {self.spearman_least:.2f} ({self.points} "
            f"points of {self.kernels} kernels on {self.gpu}, {self.date}{elsewhere})"
        )
