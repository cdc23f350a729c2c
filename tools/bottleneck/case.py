"""One kernel under the rules: its figures, and how a rule writes down what it found."""

from math import prod
from typing import Literal, NamedTuple

from egg.state.bottleneck import Bottleneck, BottleneckKind, Evidence
from egg.state.ceilings import Ceilings
from egg.state.device import Device
from egg.state.metrics import BY_NAME
from egg.state.place import Place
from egg.state.profile import KernelProfile
from egg.state.stage import Group
from egg.tools.occupancy import WARP
from egg.tools.place import counter

Origin = Literal["counter", "time", "static"]
MOST_PERCENT = 1e6


class Case(NamedTuple):
    """What the rules see."""

    kernel: KernelProfile
    device: Device
    ceilings: Ceilings

    @property
    def place(self) -> Place | None:
        """Under the roofline."""
        return self.kernel.place

    def bottleneck(
        self, kind: BottleneckKind, stage: Group | None, *evidence: Evidence, limiter: str = ""
    ) -> Bottleneck:
        """A finding. Of what PyTorch launches, only the structure that leaves it to PyTorch is ours to decide."""
        return Bottleneck(
            kind=kind,
            kernel=self.kernel.kernel,
            evidence=evidence,
            stage=stage if self.kernel.own or stage is None else "structure",
            limiter=limiter,
            share=self.kernel.share,
        )

    def counter(self, name: str) -> float | None:
        """A counter that makes sense, or None; one in percent stays printable."""
        value = counter(self.kernel, name)
        return value if value is None or BY_NAME[name].unit != "%" else min(MOST_PERCENT, value)

    @property
    def saw(self) -> Origin:
        """What a figure rests on that a time went into."""
        return "time" if self.kernel.measured else "static"

    @property
    def multiplies(self) -> bool:
        """Whether most of its arithmetic is the matrix units'; of a library's kernel only counters tell."""
        if self.place is not None and self.place.flops > 0:
            return self.place.precision != "fp32"
        return (self.counter("tensor_pipe") or 0.0) > (self.counter("fp32_pipe") or 0.0)

    @property
    def programs(self) -> int:
        """Of the launch; 0 where nobody knows."""
        launch, counted = self.kernel.launch, self.counter("grid_size")
        return int(counted) if counted else max(0, prod(launch.grid)) if launch else 0

    @property
    def warps(self) -> float:
        """Of a program; 0 where nobody knows."""
        launch, counted = self.kernel.launch, self.counter("block_size")
        return counted / WARP if counted else float(launch.warps) if launch else 0.0


def percent(part: float, whole: float = 1.0) -> float:
    """Finite, whatever the two are; 0 of nothing."""
    return min(MOST_PERCENT, 100.0 * part / whole) if whole > 0 else 0.0


def least(figure: str, value: float, threshold: float, unit: str = "", source: Origin = "static") -> Evidence:
    """The value reaches the threshold."""
    return Evidence(figure=figure, value=value, side="at least", threshold=threshold, unit=unit, source=source)


def most(figure: str, value: float, threshold: float, unit: str = "", source: Origin = "static") -> Evidence:
    """The value stays within the threshold."""
    return Evidence(figure=figure, value=value, side="at most", threshold=threshold, unit=unit, source=source)
