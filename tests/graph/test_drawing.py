"""docs/graph.md shows the graph as it is. Drawn anew by `make graph`."""

import os
from pathlib import Path

from typer.testing import CliRunner

from egg.cli import app
from egg.graph.app import graph
from egg.graph.stage import build_stage

PAGE = Path(__file__).parents[2] / "docs" / "graph.md"
TEXT = """# The state machine

Drawn from the code by `make graph`. `egg graph` prints both, with the agents opened.

## A run

```mermaid
{run}```

## A stage

Every seed and every tuning stage is this subgraph; its `StageSpec` says which decisions it may change.

```mermaid
{stage}```
"""


def test_the_command_draws_the_run_and_a_stage_with_its_agents():
    drawn = CliRunner().invoke(app, ["graph"])
    assert drawn.exit_code == 0, drawn.output
    assert "confirm -.-> report" in drawn.output and "subgraph profile" in drawn.output


def test_the_page_is_current():
    text = TEXT.format(run=graph.get_graph().draw_mermaid(), stage=build_stage().get_graph().draw_mermaid())
    if os.environ.get("EGG_UPDATE_GOLDEN"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text, "run `make graph`"
