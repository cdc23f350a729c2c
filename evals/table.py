"""Put measured results into the README: `python -m egg.evals.table evals/results/FILE.json ...`.

Each results file (from `python -m egg.evals.sweep`) becomes one table between the README's two markers. A number
appears only if it was measured, and a speedup only with its interval.
"""

import json
import sys
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
HEADINGS = ("problem", "eager, ms", "torch.compile, ms", "EGG, ms", "over eager", "over torch.compile", "stays PyTorch")


def table(results: dict[str, Any]) -> str:
    """One results file as Markdown.

    Raises:
        ValueError: if it holds nothing that was measured.
    """
    rows = results["rows"]
    if not any(row["measured"] for row in rows):
        raise ValueError("nothing in it was measured on a GPU")
    device = results["device"]
    software = ", ".join(f"{name} {version}" for name, version in sorted(device.get("software", {}).items()))
    lines = [
        f"{device['name']}, policy `{results['policy']}`, backbone `{results['backbone']}`, "
        f"commit {results['commit']}, {results['date']} ({software}).",
        "",
        "| " + " | ".join(HEADINGS) + " |",
        "|---" * len(HEADINGS) + "|",
        *(_line(row) for row in rows),
    ]
    if failures := results["failures"]:
        lines += ["", f"Ended with an error: {', '.join(sorted(failures))}."]
    if note := results.get("note"):
        lines += ["", note]
    if unfinished := results["unfinished"]:
        lines += ["", f"Not measured yet: {', '.join(unfinished)}."]
    return "\n".join(lines)


def fill(text: str, tables: list[str]) -> str:
    """The README with the tables between its markers.

    Raises:
        ValueError: if the markers are not there.
    """
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the README lacks {BEGIN} or {END}")
    return f"{head}{BEGIN}\n" + "\n\n".join(tables) + f"\n{END}{tail}"


def _line(row: dict[str, Any]) -> str:
    over = {speedup["baseline"]: speedup for speedup in row["speedups"]}
    kept = row["proven_faster"]
    cells = (
        row["problem"],
        _ms(row["eager_ms"]),
        _ms(row["compile_ms"]),
        _ms(row["kernel_ms"]) if kept else "reference kept",
        _ratio(over.get("eager")) if kept else "–",
        _ratio(over.get("compile")) if kept else "–",
        ", ".join(row["torch_regions"]) if kept and row["torch_regions"] else "–",
    )
    return "| " + " | ".join(cells) + " |"


def _ms(value: float | None) -> str:
    return f"{value:.3f}" if value is not None else "–"


def _ratio(speedup: dict[str, Any] | None) -> str:
    return f"{speedup['ratio']:.2f} [{speedup['low']:.2f}, {speedup['high']:.2f}]" if speedup else "–"


def main() -> int:
    """Rewrite README.md in the current folder."""
    readme = Path("README.md")
    tables = [table(json.loads(Path(name).read_text())) for name in sys.argv[1:]]
    readme.write_text(fill(readme.read_text(), tables))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
