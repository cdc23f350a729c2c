"""Put the judge to the test: `python -m egg.evals.trust --out FILE [--jobs N] [--seconds-per S] [--hostile N]`.

Every kernel that must fail is judged twice, with its source unread (the numbers alone) and read; every honest kernel
once. On a machine with a GPU all of it runs there, else what Triton's interpreter can show. Prints a table,
`caught X/Y` (any failing status; those with another than the table's are named) and
`false alarms Z/W` with names, and writes a row for each verdict. `--hostile N` adds N hostile
candidates in a row and looks after each for what it left behind. The corpora are part of the checkout, not of the
installed package: the command says so if they are not there. Exit code 0: all caught, no false alarm, nothing left.
"""

import argparse
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

from egg.evals.corpus import Case, corpus, left_behind
from egg.evals.hostile import sequence
from egg.evals.library import Order, library, written
from egg.evals.provenance import provenance, write_results
from egg.evals.stopping import stoppable
from egg.evals.trial import timed_honestly, verdict
from egg.state.device import Device
from egg.state.errors import UserError
from egg.state.evaluation import Evaluation, Status
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.correctness.verify import mode
from egg.tools.device import detect_device
from egg.tools.problem import load_problem
from egg.tools.sandbox.client import shutdown
from egg.tools.sandbox.isolation import isolation
from egg.tools.store import Store

Row = dict[str, Any]
MODES = {"unread": False, "read": True}


class Trust:
    """What the rows have in common."""

    def __init__(self, device: Device, store: Store, seconds: float) -> None:
        self.device, self.store, self.seconds = device, store, seconds
        self.problem = cache(load_problem)

    def cheat(self, case: Case, how: str) -> Row:
        """One kernel that must fail."""
        began, read = monotonic(), MODES[how]
        wanted = case.wanted(read=read)
        seen = verdict(self._bounded(case), self.problem(case.problem), self.device, self.store, read=read)
        # Any failure catches it; another than the table's is told as well, since a debug agent reads it.
        # A control among them, of which nothing but `ok` is wanted, must pass.
        control = set(wanted) == {Status.OK}
        caught = (not seen.ok) or Status.OK in wanted or case.excused(seen) or self._honest_time(case, seen)
        caught = seen.ok if control else caught
        through = left_behind(case)
        return self._row(f"{case.name} ({how})", "cheat", wanted, seen, caught and not through, began, case, through)

    def honest(self, case: Case, policy: Policy = Policy.STOCK) -> Row:
        """One kernel that must pass. Beside the verdict, its label must be right."""
        began = monotonic()
        seen = verdict(self._bounded(case), self.problem(case.problem), self.device, self.store, policy=policy)
        label = seen.ownership.label if seen.ownership else "triton"
        right = seen.ok and label in ("triton", case.label)
        return self._row(case.name, "honest", case.expected, seen, right, began, case, False)

    def from_library(self, order: Order) -> Row | None:
        """One kernel of the expert library, if the problem has as many structures."""
        problem: Problem = self.problem(order.problem)
        case = written(order, problem, self.device, self.store)
        return None if case is None else self.honest(case, order.policy)

    def _bounded(self, case: Case) -> Case:
        return case.model_copy(update={"seconds": min(case.seconds, self.seconds)}) if self.seconds else case

    def _honest_time(self, case: Case, seen: Evaluation) -> bool:
        if not case.twin or not seen.ok:
            return False
        if not self.device.present:  # nothing is timed here, and it is right
            return True
        return timed_honestly(case, seen, self.problem(case.problem), self.device, self.store)

    def _row(
        self, name: str, kind: str, wanted: Any, seen: Evaluation, right: bool, began: float, case: Case, left: bool
    ) -> Row:
        said = (seen.feedback.strip().splitlines() or [""])[0]
        return {
            "name": name,
            "kind": kind,
            "expected": [status.value for status in wanted],
            "got": seen.status.value,
            "label": seen.ownership.label if seen.ownership else None,
            "share": seen.ownership.share if seen.ownership else None,
            "median_ms": seen.timing.median_ms if seen.timing else None,
            "right": right,
            "as_expected": right and (seen.ok or seen.status in wanted),
            "left_behind": left,
            "feedback": said[:300],
            "seconds": round(monotonic() - began, 2),
            "hacks": list(case.hacks),
            "inputs": list(case.inputs),
            "attacks": list(case.attacks),
        }


def rows(trust: Trust, options: argparse.Namespace) -> list[Row]:
    """All verdicts, several side by side; those that bind a lock on the GPU wait for each other by themselves."""
    found: list[Row] = []
    how = mode(trust.device)
    with ThreadPoolExecutor(options.jobs) as pool:
        waiting: dict[Any, str] = {}
        for case in corpus("cheats") if "cheats" in options.only else ():
            for way in MODES:
                if case.runs_on(how) and case.wanted(read=MODES[way]) and _named(case.name, options):
                    waiting[pool.submit(trust.cheat, case, way)] = case.name
        for case in corpus("honest") if "honest" in options.only else ():
            if case.runs_on(how) and _named(case.name, options):
                waiting[pool.submit(trust.honest, case)] = case.name
        for order in library() if "library" in options.only else ():
            if _named(order.name, options):
                waiting[pool.submit(trust.from_library, order)] = order.name
        for done in as_completed(waiting):
            if error := done.exception():  # of the judge's making, whatever it is: no verdict, and the others go on
                said = "".join(traceback.format_exception_only(error)).strip()
                failed = {"name": waiting[done], "kind": "error", "right": False, "got": "error", "seconds": 0.0}
                row: Row | None = {**failed, "expected": [], "as_expected": False, "feedback": said}
            else:
                row = done.result()
            if row:
                found.append(row)
                print(_line(row), flush=True)
    return sorted(found, key=lambda row: (row["kind"], row["name"]))


def _named(name: str, options: argparse.Namespace) -> bool:
    return not options.names or any(part in name for part in options.names)


def _line(row: Row) -> str:
    mark, said = "  " if row["right"] else "!!", row["feedback"][:70]
    return f"{mark} {row['kind']:7} {row['name'][:44]:44} {row['got']:16} {row['seconds']:6.1f} s  {said}"


def tally(found: list[Row]) -> dict[str, Any]:
    """Caught and total, false alarms and total, with the names of those that went wrong."""
    cheats = [row for row in found if row["kind"] == "cheat" and row["expected"] != ["ok"]]
    honest = [row for row in found if row["kind"] == "honest" or row["expected"] == ["ok"]]
    missed, alarms = ([row["name"] for row in part if not row["right"]] for part in (cheats, honest))
    other = [f"{row['name']} {row['got']}" for row in cheats if row["right"] and not row["as_expected"]]
    return {
        "caught": len(cheats) - len(missed),
        "cheats": len(cheats),
        "missed": missed,
        "other_status": other,
        "false_alarms": len(alarms),
        "honest": len(honest),
        "alarms": alarms,
        "errors": [row["name"] for row in found if row["kind"] == "error"],
    }


def main() -> int:
    """Run, print, write; 0 if everything is as it must be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of names; all kernels by default")
    parser.add_argument("--out", type=Path, required=True, help="results file")
    parser.add_argument("--jobs", type=int, default=2, help="kernels side by side")
    parser.add_argument("--seconds-per", type=float, default=0.0, help="limit on each kernel's runs; the table's own")
    parser.add_argument("--only", nargs="*", default=["cheats", "honest", "library"], help="corpora to judge")
    parser.add_argument("--hostile", type=int, default=0, help="hostile candidates in a row, after the corpora")
    options = parser.parse_args()
    try:
        corpus("cheats"), corpus("honest")
        device = detect_device(None)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    began = monotonic()
    with tempfile.TemporaryDirectory(prefix="egg-trust-") as folder:
        trust = Trust(device, Store(Path(folder) / "run", Path(folder) / "cache"), options.seconds_per)
        found = rows(trust, options)
        hostile = sequence(options.hostile, trust.device, Path(folder)) if options.hostile else None
    counts = tally(found)
    results: dict[str, Any] = {
        **provenance("python -m egg.evals.trust", device, Policy.STOCK),
        "mode": mode(device),
        "isolation": isolation(interpret=not device.present).model_dump(mode="json"),
        "minutes": round((monotonic() - began) / 60, 2),
        "counts": counts,
        "hostile": hostile,
        "rows": found,
    }
    write_results(options.out, results)
    print(f"\ncaught {counts['caught']}/{counts['cheats']}" + _names(counts["missed"]))
    print(
        f"caught with another status than the table's: {len(counts['other_status'])}" + _names(counts["other_status"])
    )
    print(f"false alarms {counts['false_alarms']}/{counts['honest']}" + _names(counts["alarms"]))
    if counts["errors"]:
        print("not judged" + _names(counts["errors"]))
    if hostile:
        print(hostile["told"])
    shutdown()
    clean = not (counts["missed"] or counts["alarms"] or counts["errors"])
    return 0 if clean and (hostile is None or hostile["clean"]) else 1


def _names(names: list[str]) -> str:
    return f": {', '.join(names)}" if names else ""


if __name__ == "__main__":
    stoppable(main)
