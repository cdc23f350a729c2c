"""Printing the price table."""

import json
import sys
from pathlib import Path

from rich.text import Text

from egg.results import console
from egg.state.price import Price


def print_prices(prices: tuple[Price, ...], own: Path, *, as_json: bool) -> None:
    """Two lines for each model, the second its source; or a JSON list on stdout."""
    if as_json:
        sys.stdout.write(json.dumps([price.model_dump(mode="json") for price in prices], indent=2) + "\n")
        return
    console.print("US dollars for a million tokens.")
    for price in prices:
        console.print(Text(f"{price.model}{f' at {price.host}' if price.host else ''}: {price.told()}", style="bold"))
        console.print(Text(f"  {price.where()}", style="dim"), soft_wrap=True)
    found = "holds prices of yours, which win" if own.is_file() else "is where prices of yours go; they would win"
    console.print(f"{own} {found}.", soft_wrap=True)
