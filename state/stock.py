"""What KernelBench's own protocol would say. Shown beside our verdict, never used: a cheat fools it by design."""

from pydantic import Field

from egg.state.record import Record

COMMIT = "423217d"


class StockVerdict(Record):
    """KernelBench's evaluation of one kernel, at the commit above: seed 42, 5 trials, `torch.allclose`, event means."""

    correct: bool
    trials: int = Field(5, description="Trials asked for")
    passed: int = Field(0, description="Trials within the tolerance; one failure to run ends them")
    tolerance: float = Field(description="atol and rtol alike: 1e-4 for float32, 1e-2 for float16 and bfloat16")
    reference_ms: float | None = Field(None, description="Mean of 100 calls, to 3 digits, after the candidate has run")
    candidate_ms: float | None = Field(None, description="The same of the candidate; None without a GPU, or if wrong")
    speedup: float | None = None
    excessive: bool = Field(False, description="More than ten times as fast, which KernelBench flags and lets pass")
    checker_errors: tuple[str, ...] = Field((), description="For what its static checker would refuse the source")
    mode: str = Field("gpu", description="`gpu`, or `interpreter`: at the small size, without times")
    note: str = Field("", description="Why it is not correct, or what could not be done")
    commit: str = COMMIT

    def told(self) -> str:
        """One line for a person."""
        said = f"{'correct' if self.correct else 'wrong'}, {self.passed} of {self.trials} trials at {self.tolerance:g}"
        if self.speedup is not None:
            said += f", {self.speedup:.3g}x{' (flagged as excessive)' if self.excessive else ''}"
        if self.checker_errors:
            said += f"; its checker of sources would refuse {', '.join(self.checker_errors)}"
        return said + (f"; {self.note}" if self.note else "")
