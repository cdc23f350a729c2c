"""Every own problem end to end: `python -m egg.evals.sweep --out FILE [--policy ieee] [--jobs 4] [NAME ...]`.

Runs the rulebook over `evals/problems/`, several problems side by side (a GPU times one kernel at a time all the
same), and writes a results file: a row for each problem, and commit, device, versions and policy for all. A problem
whose run folder holds a finished run is not run again; an unfinished one goes on.
"""

import argparse
import json
import traceback
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig

from egg.evals.provenance import commit, write_results
from egg.evals.stopping import stoppable
from egg.graph.app import build_graph
from egg.graph.checkpointing import open_saver, unfinished
from egg.state.run import RunInput
from egg.state.settings import Policy
from egg.tools.folders import CHECKPOINT, runs_dir

PROBLEMS = Path(__file__).parent / "problems"


def row(problem: Path, folder: Path, policy: str, minutes: float) -> dict[str, Any]:
    """Run one problem, or go on with it, and say how it ended."""
    folder.mkdir(parents=True, exist_ok=True)
    config: RunnableConfig = {"configurable": {"thread_id": folder.name}}
    with open_saver(folder / CHECKPOINT) as saver:
        graph = build_graph(checkpointer=saver)
        begun = graph.get_state(config)
        if unfinished(begun) or not begun.values:
            request = RunInput(
                problem_file=str(problem), policy=Policy(policy), run_dir=str(folder), max_minutes=minutes
            )
            graph.invoke(None if unfinished(begun) else request, config)
    evidence = json.loads((folder / "evidence.json").read_text())
    return summary(evidence)


def summary(evidence: dict[str, Any]) -> dict[str, Any]:
    """The figures of one evidence file that a results table shows. Times are medians in milliseconds.

    Where the kernel was confirmed, both baselines are those that were timed in turns with it.
    """
    outcome, baseline, winner = evidence["outcome"], evidence["baseline"], evidence["winner"]
    timing = (winner or {}).get("evaluation", {}).get("timing") if outcome["kernel"] else None
    kernel_ms = (timing or {}).get("median_ms")
    beside = {s["baseline"]: s["ratio"] * kernel_ms for s in outcome["speedups"]} if kernel_ms else {}
    return {
        "problem": evidence["problem"]["name"],
        "claim": outcome["claim"],
        "correct": outcome["correct"],
        "measured": outcome["measured"],
        "proven_faster": outcome["proven_faster"],
        "structure": winner["structure"] if winner else None,
        "eager_ms": beside.get("eager", (baseline["eager"] or {}).get("median_ms")),
        "compile_ms": beside.get("compile", (baseline["compiled"] or {}).get("median_ms")),
        "roofline_ms": baseline["roofline_ms"],
        "kernel_ms": kernel_ms,
        "speedups": outcome["speedups"],
        "torch_regions": outcome["torch_regions"],
        "ended": outcome["ended"],
        "minutes": round(evidence["elapsed_ms"] / 60_000, 2),
        "device": evidence["device"],
    }


def write(out: Path, rows: list[dict[str, Any]], failures: dict[str, str], wanted: list[str], policy: str) -> None:
    """The results file, whole or not at all; what was asked for and has not ended yet is named in it."""
    device = next((dict(r["device"]) for r in rows), {})
    results = {
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "policy": policy,
        "backbone": "rulebook",
        "device": device,
        "rows": [{k: v for k, v in r.items() if k != "device"} for r in sorted(rows, key=lambda r: r["problem"])],
        "failures": failures,
        "unfinished": sorted({*wanted} - {r["problem"] for r in rows} - {*failures}),
    }
    write_results(out, results)


def main() -> int:
    """Run the sweep; 0 if every problem ended with a correct result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="problems to run; all by default")
    parser.add_argument("--out", type=Path, required=True, help="results file")
    parser.add_argument("--policy", default="stock", choices=["stock", "ieee", "tf32"])
    parser.add_argument("--jobs", type=int, default=2, help="problems side by side")
    parser.add_argument("--minutes", type=float, default=10.0, help="cap on each problem's wall time")
    options = parser.parse_args()
    wanted = [p for p in sorted(PROBLEMS.glob("*.py")) if not options.names or p.stem in options.names]
    rows: list[dict[str, Any]] = []
    failures: dict[str, str] = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        folders = {p: runs_dir() / f"sweep-{options.policy}" / p.stem for p in wanted}
        running = {pool.submit(row, p, folders[p], options.policy, options.minutes): p for p in wanted}
        for done in as_completed(running):
            name = running[done].stem
            if error := done.exception():
                failures[name] = "".join(traceback.format_exception_only(error)).strip()
                print(f"{name}: failed: {failures[name]}", flush=True)
            else:
                rows.append(done.result())
                print(f"{name}: {rows[-1]['claim']} ({rows[-1]['minutes']} min)", flush=True)
            write(options.out, rows, failures, [p.stem for p in wanted], options.policy)
    return 0 if not failures and all(r["correct"] for r in rows) else 1


if __name__ == "__main__":
    stoppable(main)
