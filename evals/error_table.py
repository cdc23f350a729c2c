"""Put the estimator's measured errors into its page: `python -m egg.evals.error_table FILE.json ... [--plot FILE.svg]`.

Each results file (from `python -m egg.evals.estimator`) becomes one table between the markers in docs/estimate.md.
"""

import argparse
import json
import os
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Any

from egg.evals.estimator import told
from egg.evals.scatter import save_scatter
from egg.evals.table import fill

PAGE = Path("docs/estimate.md")
HEADINGS = ("kernel", "kind", "points", "measured, ms", "rank correlation", "factor off, middle")


def table(results: dict[str, Any]) -> str:
    """One results file as Markdown.

    Raises:
        ValueError: if nothing in it was timed.
    """
    summary, device = results.get("summary") or {}, results["device"]
    if not summary.get("points"):
        raise ValueError("nothing in it was measured on a GPU")
    software = ", ".join(f"{name} {version}" for name, version in sorted(device["software"].items()))
    lines = [
        f"{device['name']}, commit {results['commit']}, {results['date']} ({software}): {told(summary)}.",
        "",
        "| " + " | ".join(HEADINGS) + " |",
        "|---" * len(HEADINGS) + "|",
        *(_line(name, part) for name, part in sorted(results["parts"].items())),
    ]
    return "\n".join(lines)


def _line(name: str, part: dict[str, Any]) -> str:
    rows = [row for row in part["points"] if "median_ms" in row]
    times = [row["median_ms"] for row in rows]
    off = [exp(abs(log(row["estimate_ms"] / row["median_ms"]))) for row in rows]
    cells = (
        name,
        part["kind"],
        str(len(rows)),
        f"{min(times):.3f} to {max(times):.3f}" if times else "–",
        f"{part['spearman']:.2f}" if part["spearman"] is not None else "–",
        f"{median(off):.2f}" if off else "–",
    )
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    """Rewrite the page in the current checkout, and draw its picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, help="results files")
    parser.add_argument("--plot", type=Path, help="scatter plot of the first, .svg or .png; needs matplotlib")
    options = parser.parse_args()
    results = [json.loads(file.read_text()) for file in options.files]
    tables = [table(one) for one in results]
    if options.plot:
        save_scatter(results[0]["parts"], results[0]["device"]["name"], options.plot)
        shown = os.path.relpath(options.plot, PAGE.parent)
        tables.append(f"![Estimated against measured times, a mark for each kernel]({shown})")
    PAGE.write_text(fill(PAGE.read_text(), tables))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
