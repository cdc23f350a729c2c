"""docs/counters.md has the table of counters as it is. Written anew with `EGG_WRITE_DOCS=1`."""

import os
from pathlib import Path

from egg.state.metrics import METRICS, Metric

PAGE = Path(__file__).parents[3] / "docs" / "counters.md"
START, END = "<!-- metrics -->\n", "<!-- end -->"
HEAD = "| name | unit | stages | meaning | Nsight Compute's name |\n|---|---|---|---|---|\n"


def row(metric: Metric) -> str:
    stages = "every" if len(metric.stages) == 4 else ", ".join(metric.stages) or ("" if metric.paper else "ours")
    return f"| `{metric.name}` | {metric.unit} | {stages} | {metric.meaning} | `{metric.ncu}` |\n"


def test_the_page_has_every_counter() -> None:
    before, _, rest = PAGE.read_text().partition(START)
    table, _, after = rest.partition(END)
    wanted = HEAD + "".join(map(row, METRICS))
    if os.environ.get("EGG_WRITE_DOCS"):
        PAGE.write_text(before + START + wanted + END + after)
        return
    assert table == wanted
