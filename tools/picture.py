"""The roofline as a picture, through matplotlib, which only this needs: the extra `report`."""

from pathlib import Path
from typing import TYPE_CHECKING

from egg.state.errors import UserError
from egg.state.place import Place
from egg.state.profiled import Profiled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".svg", ".png", ".pdf")
MARGIN = 8.0
"""Room to the left and right of the points, as a factor."""
SLOPE, ROOF = "#4477aa", "#bbbbbb"
LIBRARY, WHOLE = "#888888", "#222222"
NAME = 40
"""Characters of a kernel's name in the legend."""


def save_roofline(profiled: Profiled, file: str | Path) -> None:
    """Draw the kernels and the whole pass under the ceilings of the GPU.

    Raises:
        UserError: matplotlib is not installed, nothing can be placed, or the file cannot be written.
    """
    path = Path(file)
    if path.suffix not in FORMATS:
        raise UserError(f"{file}: pictures end in {', '.join(FORMATS)}")
    try:
        from matplotlib.figure import Figure  # half a second to import
    except ImportError:
        raise UserError("pictures need matplotlib; install it with: pip install 'egg-kernels[report]'") from None
    places = (*(kernel.place for kernel in profiled.profile.kernels), profiled.profile.forward)
    points = [place for place in places if place and place.flops and place.bytes]
    if not points:
        raise UserError("no kernel has both bytes and FLOPs to place under the roofline")
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    _draw(axes, profiled, points)
    try:
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from None


def _draw(axes: "Axes", profiled: Profiled, points: list[Place]) -> None:
    memory = profiled.ceilings.memory
    used = sorted({place.precision for place in points} & profiled.roofs.keys()) or ["fp32"]
    roofs = {name: profiled.roofs[name] for name in used if name in profiled.roofs}
    intensities = [place.intensity or 0.0 for place in points] + [rate / memory for rate in roofs.values()]
    left, right = min(intensities) / MARGIN, max(intensities) * MARGIN
    highest = max(roofs.values(), default=memory * right)
    ridge = min(right, highest / memory)
    axes.plot(
        [left, ridge], [left * memory, ridge * memory], color=SLOPE, label=f"device memory {memory / 1e12:.3g} TB/s"
    )
    for name, rate in roofs.items():
        start = min(right, rate / memory)
        axes.plot([start, right], [rate, rate], color=ROOF)
        axes.annotate(f"{name} {rate / 1e12:.3g} TFLOP/s", (right, rate), ha="right", va="bottom", fontsize=8)
    own = {kernel.kernel for kernel in profiled.profile.kernels if kernel.own}
    for number, place in enumerate(sorted(points, key=lambda place: -place.ms)):
        label = f"{place.kernel[:NAME] or 'the whole pass'}: {place.told()}"
        at = [place.intensity or 0.0], [1e3 * place.flops / place.ms]
        if not place.kernel:  # a ring, round the point of a pass that is one kernel
            axes.scatter(*at, s=120, facecolors="none", edgecolors=WHOLE, zorder=3, label=label)
        elif place.kernel in own:
            axes.scatter(*at, color=f"C{number % 10}", zorder=3, label=label)
        else:
            axes.scatter(*at, color=LIBRARY, marker="s", zorder=3, label=label)
    measured = "measured" if profiled.profile.source != "estimate" else "estimated"
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(left, right),
        xlabel="FLOP per byte that has to be moved",
        ylabel="FLOP/s",
        title=f"{Path(profiled.kernel).name} for {profiled.problem} on {profiled.device.name}: {measured} times",
    )
    axes.legend(loc="lower right", fontsize=8)
