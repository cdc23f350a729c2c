"""Printing what runs have come to."""

import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from egg.answering import onward, question_of, show_question
from egg.session import REQUEST, find, is_locked, opened
from egg.state.errors import UserError
from egg.state.ledger import Decision
from egg.state.outcome import Outcome
from egg.state.usage import Usage
from egg.tools.folders import CHECKPOINT, runs_dir

PIPE_COLUMNS = 120
console = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_COLUMNS)


def print_result(values: dict[str, Any]) -> None:
    """The ledger, the claim and where the files are, from a run's state."""
    ledger: tuple[Decision, ...] = values.get("ledger", ())
    if ledger:
        console.print(_ledger(ledger))
    usage: Usage = values.get("usage", Usage())
    gpu = f", {usage.gpu_ms / 1000:.1f} s of GPU time" if usage.gpu_ms else ""
    console.print(
        f"\nSpent {usage.total.told()}{gpu}; {values.get('elapsed_ms', 0) / 1000:.1f} s in all.", soft_wrap=True
    )
    outcome: Outcome | None = values.get("outcome")
    if outcome is None:
        return
    console.print(Text(f"{outcome.claim[0].upper()}{outcome.claim[1:]}.", style="bold"))
    if outcome.ended != "finished":
        console.print(f"Ended early, {outcome.ended}.")
    if outcome.torch_regions and outcome.kernel:
        console.print(f"Stays PyTorch: {', '.join(outcome.torch_regions)}.")
    for name, path in outcome.files.items():
        console.print(f"  {name:9}{_short(path)}", soft_wrap=True)


def show(name: str) -> None:
    """One run, finished or not."""
    run = find(name)
    if not run.database.is_file():
        raise UserError(f"run {run.id} ended before its first step: `egg resume {name}` starts it over")
    with opened(run) as (graph, config):
        state = graph.get_state(config)
    print_result(state.values)
    if state.tasks:
        busy = run.folder is not None and is_locked(run.folder)
        at = ", ".join(sorted({task.name for task in state.tasks}))
        for asked in () if busy else state.interrupts:
            show_question(console, question_of(asked), state.values["run_dir"])
        command = onward(name, state.interrupts) if state.interrupts else f"egg resume {name}"
        console.print(
            f"At {at}; " + ("a process is working on it." if busy else f"go on with: {command}"), soft_wrap=True
        )


def list_runs() -> None:
    """Every run under the folder of runs, newest first."""
    folders = [path for path in runs_dir().glob("*") if (path / REQUEST).exists() or (path / "evidence.json").exists()]
    if not folders:
        console.print(f"No runs in {runs_dir()}; `egg optimize PROBLEM` makes one.", soft_wrap=True)
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("run", "state", "result"):
        table.add_column(heading, overflow="fold")
    for folder in sorted(folders, key=lambda path: path.stat().st_mtime, reverse=True):
        table.add_row(folder.name, *(Text(text) for text in _summary(folder)))
    console.print(table)


def _summary(folder: Path) -> tuple[str, str]:
    if (folder / "evidence.json").is_file():
        return "finished", str(json.loads((folder / "evidence.json").read_text())["outcome"]["claim"])
    if is_locked(folder):
        return "running", ""
    if (folder / CHECKPOINT).is_file() or (folder / REQUEST).is_file():
        return "stopped", f"egg resume {folder.name}"
    return "unknown", ""


def _ledger(ledger: tuple[Decision, ...]) -> Table:
    table = Table(title="Ledger", title_justify="left", title_style="bold", box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for decision in ledger:
        table.add_row(decision.stage, Text(f"{decision.verb.value}: {decision.what}"))
        table.add_row("", Text(f"why: {decision.why}"))
        table.add_row("", Text(f"evidence: {decision.evidence}", style="dim"))
        if decision.by_person:
            table.add_row("", Text(decision.by_person, style="italic"))
    return table


def _short(path: str) -> str:
    """Relative to here where that is shorter."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path
