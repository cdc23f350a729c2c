"""What a verdict costs: `python -m egg.evals.verdict_cost --out FILE [--repeats 3] [--side-by-side 8]`.

On a small problem, so that nearly all of it is the judge's own: a quick verdict (two cases, no time), a full one
(every case of the search, compiled, profiled and, on a GPU, timed), and how many full ones a minute when their compiles
and checks overlap. Each is of another source, so that nothing of its own is found in a cache; the reference's timer is
kept from one to the next, as in a search. What a confirmation adds (torch.compile, fresh processes) is not in it.
"""

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from egg.evals.provenance import provenance, write_results
from egg.evals.small import ADD, add_kernel, load
from egg.evals.stopping import stoppable
from egg.state.device import Device
from egg.state.evaluation import Evaluation
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.correctness.verify import check
from egg.tools.device import detect_device
from egg.tools.judge import judge
from egg.tools.store import Store

LIMITS = {"quick_s": 3.0, "full_s": 10.0, "full_a_minute": 10.0}
"""What a GPU must do: at most so many seconds, at least so many a minute."""

Verdict = Callable[[str, Store], Evaluation]


class Bench:
    """Verdicts on one problem, each on another source with an empty cache."""

    def __init__(self, device: Device, folder: Path) -> None:
        self.device, self.folder, self.numbers = device, folder, count()
        self.problem: Problem = load("small_add", ADD)
        self.parts: dict[str, list[float]] = defaultdict(list)

    def quick(self, source: str, store: Store) -> Evaluation:
        return check(self.problem, source, self.device, Policy.STOCK, store, cases="quick")

    def full(self, source: str, store: Store) -> Evaluation:
        return judge(self.problem, source, self.device, Policy.STOCK, store)

    def seconds(self, verdict: Verdict) -> float:
        """Of one verdict.

        Raises:
            RuntimeError: it is not `ok`.
        """
        number = next(self.numbers)
        store = Store(self.folder / f"run-{number}", self.folder / f"cache-{number}")
        began = perf_counter()
        seen = verdict(add_kernel(number), store)
        spent = perf_counter() - began
        if not seen.ok:
            raise RuntimeError(f"an honest kernel is judged {seen.status}: {seen.feedback}")
        for line in (self.folder / f"run-{number}" / "journal.jsonl").read_text().splitlines():
            entry = json.loads(line)
            self.parts[entry["kind"]].append(entry["seconds"])
        for part, part_s in (seen.conditions.seconds if seen.conditions else {}).items():
            self.parts[f"timing: {part}"].append(part_s)
        return spent


def measure(device: Device, folder: Path, repeats: int, side_by_side: int) -> dict[str, Any]:
    """All figures of a results file."""
    bench = Bench(device, folder)
    first = bench.seconds(bench.full)
    bench.parts.clear()
    quick = [bench.seconds(bench.quick) for _ in range(repeats)]
    bench.parts.clear()
    full = [bench.seconds(bench.full) for _ in range(repeats)]
    parts = {part: round(median(spent), 3) for part, spent in bench.parts.items()}
    many = 2 * side_by_side
    began = perf_counter()
    with ThreadPoolExecutor(side_by_side) as pool:
        list(pool.map(lambda _: bench.seconds(bench.full), range(many)))
    rate = 60 * many / (perf_counter() - began)
    figures = {"quick_s": median(quick), "full_s": median(full), "full_a_minute": rate}
    return {
        **{name: round(value, 2) for name, value in figures.items()},
        "first_full_s": round(first, 2),
        "quick_all_s": [round(spent, 2) for spent in quick],
        "full_all_s": [round(spent, 2) for spent in full],
        "full_parts_s": parts,
        "side_by_side": side_by_side,
        "within_limits": all(
            figures[name] >= limit if name.endswith("minute") else figures[name] <= limit
            for name, limit in LIMITS.items()
        ),
        "limits": LIMITS,
    }


def main() -> int:
    """Measure, print and write; 0 if a GPU kept the limits, or if there is none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="results file")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--side-by-side", type=int, default=8, help="verdicts at a time for the rate")
    options = parser.parse_args()
    device = detect_device(None)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(device, Path(folder), options.repeats, options.side_by_side)
    write_results(options.out, provenance("egg.evals.verdict_cost", device, Policy.STOCK) | figures)
    print(f"{device.name}{'' if device.present else ' (not here: interpreter, nothing timed)'}")
    for name, limit in LIMITS.items():
        print(f"{name:14} {figures[name]:8.2f}   limit {limit:g}")
    print("parts of a full verdict, median s: " + json.dumps(figures["full_parts_s"]))
    return 0 if figures["within_limits"] or not device.present else 1


if __name__ == "__main__":
    stoppable(main)
