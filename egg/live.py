"""The run on the screen: a table that redraws, or plain lines where output is not a terminal."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import Any, Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from egg.progress import Progress, Row

MARKS = {"waiting": "·", "running": "▸", "done": "✓"}


class View(Protocol):
    """Something that shows a run."""

    def feed(self, event: Mapping[str, Any]) -> None: ...

    def tick(self) -> None: ...

    def close(self) -> None: ...


@contextmanager
def view(run_id: str, progress: Progress) -> Iterator[View]:
    """The view that suits standard output."""
    console = Console()
    shown: View = Screen(console, run_id, progress) if console.is_terminal else Lines(console, run_id, progress)
    try:
        yield shown
    finally:
        shown.close()


class Lines:
    """One line for each thing that happens."""

    def __init__(self, console: Console, run_id: str, progress: Progress) -> None:
        self.console, self.progress = console, progress
        console.print(f"run {run_id}", highlight=False)

    def feed(self, event: Mapping[str, Any]) -> None:
        for line in self.progress.feed(event):
            self.console.print(line, highlight=False, markup=False, soft_wrap=True)

    def tick(self) -> None:
        pass

    def close(self) -> None:
        pass


class Screen:
    """A table by stage: what runs, what was decided, the incumbent and the spend."""

    def __init__(self, console: Console, run_id: str, progress: Progress) -> None:
        self.run_id, self.progress, self.began = run_id, progress, monotonic()
        self.live = Live(console=console, auto_refresh=False, transient=True)
        self.live.start()

    def feed(self, event: Mapping[str, Any]) -> None:
        for _ in self.progress.feed(event):
            pass
        self.tick()

    def tick(self) -> None:
        self.live.update(draw(self.run_id, self.progress, monotonic() - self.began), refresh=True)

    def close(self) -> None:
        self.live.stop()


def draw(run_id: str, progress: Progress, seconds: float) -> Group:
    """The whole picture."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", "stage", "now or decided", "kernels", "spent", "time"):
        table.add_column(heading, style="dim" if heading in ("spent", "time") else "")
    for row in progress.rows.values():
        style = "dim" if row.state == "waiting" else "bold" if row.state == "running" else ""
        says = row.doing if row.state == "running" else row.result
        spend, tried = progress.spent(row), str(row.tried or "")
        bill = spend.short() if spend.calls > spend.free else ""
        table.add_row(MARKS[row.state], row.name, Text(says), tried, bill, _seconds(row), style=style)
    return Group(Text(_head(run_id, progress), style="bold"), table, Text(_foot(progress, seconds)))


def _head(run_id: str, progress: Progress) -> str:
    device = progress.device
    if device is None:
        return f"EGG  {run_id}"
    where = "in this machine" if device.present else "compiled for, not in this machine: times are estimates"
    return f"EGG  {run_id}  {device.name} {device.target}, {where}"


def _foot(progress: Progress, seconds: float) -> str:
    spend = progress.spend
    parts = []
    if kernel := progress.incumbent:
        measured = bool(kernel.evaluation and kernel.evaluation.timing)
        parts.append(f"incumbent {kernel.id} {kernel.rank_ms:.4g} ms ({'measured' if measured else 'estimate'})")
        if (gain := progress.gain) is not None:
            eager = measured and progress.baseline is not None and progress.baseline.eager is not None
            parts.append(f"{gain:.2f} of {'eager' if eager else 'the first kernel'}'s time")
    gpu = f", GPU {progress.usage.gpu_ms / 1000:.0f} s" if progress.usage.gpu_ms else ""
    parts.append(f"{spend.short()}, {seconds:.0f} s{gpu}")
    return "   ".join(parts)


def _seconds(row: Row) -> str:
    if row.state == "running" and row.started is not None:
        return f"{monotonic() - row.started:.1f} s"
    return f"{row.seconds:.1f} s" if row.seconds is not None else ""
