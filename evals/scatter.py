"""Predicted against measured times as a picture, through matplotlib, which only this needs: the extra `report`."""

from pathlib import Path
from typing import Any

from egg.state.errors import UserError

FORMATS = (".svg", ".png", ".pdf")
MARKS = "os^vD<>pPX*hH"


def save_scatter(parts: dict[str, dict[str, Any]], device: str, file: Path) -> None:
    """One point for each variant that was timed, one mark for each kernel.

    Raises:
        UserError: matplotlib is not installed, nothing was timed, or the file cannot be written.
    """
    if file.suffix not in FORMATS:
        raise UserError(f"{file}: pictures end in {', '.join(FORMATS)}")
    measured = {name: [row for row in part["points"] if "median_ms" in row] for name, part in parts.items()}
    if not any(measured.values()):
        raise UserError("nothing was timed: there is nothing to draw")
    try:
        from matplotlib.figure import Figure  # half a second to import
    except ImportError:
        raise UserError("pictures need matplotlib; install it with: pip install 'egg-kernels[report]'") from None
    figure = Figure(figsize=(7, 6), layout="constrained")
    axes = figure.add_subplot()
    for number, (name, rows) in enumerate(sorted(measured.items())):
        if rows:
            real, own = [row["median_ms"] for row in rows], [row["estimate_ms"] for row in rows]
            rho = parts[name]["spearman"]
            label = name if rho is None else f"{name} ({rho:.2f})"
            axes.plot(real, own, MARKS[number % len(MARKS)], label=label, markersize=4, alpha=0.8, linestyle="none")
    times = [row[key] for rows in measured.values() for row in rows for key in ("median_ms", "estimate_ms")]
    ends = [min(times) / 1.5, max(times) * 1.5]
    axes.plot(ends, ends, color="#bbbbbb", linewidth=1)
    axes.set(
        xscale="log", yscale="log", xlim=ends, ylim=ends, xlabel=f"measured on {device}, ms", ylabel="estimated, ms"
    )
    axes.legend(fontsize=7, title="kernel (rank correlation)", title_fontsize=7)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from None
