"""Printing what the machine can do."""

import json
import sys

from rich.table import Table
from rich.text import Text

from egg.results import console
from egg.state.finding import Finding

STYLES = {"ok": "green", "limited": "yellow", "missing": "bold red"}


def print_findings(findings: tuple[Finding, ...], *, as_json: bool) -> None:
    """A line for each, its advice below; or a JSON list on stdout."""
    if as_json:
        sys.stdout.write(json.dumps([finding.model_dump(mode="json") for finding in findings], indent=2) + "\n")
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        table.add_row(finding.what, Text(finding.state, style=STYLES[finding.state]), Text(finding.told))
        if finding.advice:
            table.add_row("", "", Text(f"-> {finding.advice}", style="dim"))
    console.print(table)
