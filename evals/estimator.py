"""How wrong the estimate is: `python -m egg.evals.estimator --out FILE [--plot FILE.svg] [NAME ...]`.

Some hundred points of a dozen kernels are predicted, and on a GPU timed briefly beside each other, a kernel's points in
turns. The results file tells each point, the rank correlation within each kernel, and by what factor the estimate is
off; `egg profile` and reports quote it. A kernel that is done already is not timed again. Without a GPU the points are
predicted and nothing else.

Exit code 0: every kernel's order is right to 0.8, or there is no GPU.
"""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from math import exp, isnan, log
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from egg.evals.correlation import spearman
from egg.evals.families import FAMILIES, Family
from egg.evals.points import Variant, problem_of, variants
from egg.evals.resume import Json, Parts
from egg.evals.scatter import save_scatter
from egg.evals.stopping import stoppable
from egg.state.device import Device
from egg.state.errors import UserError
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.compile import static_profile
from egg.tools.device import detect_device
from egg.tools.errors import CandidateError
from egg.tools.kernels import CORES
from egg.tools.sandbox.client import shutdown
from egg.tools.store import Store
from egg.tools.timing.brief import Times, stand
from egg.tools.timing.interleave import Job
from egg.tools.timing.nvml import reader
from egg.tools.tune.apply import code_of

VERSION = 1
ROUNDS, SHARE = 3, 0.15
"""Rounds of a kernel's points, and the part of the usual samples in each."""
AT_ONCE = 12
"""Processes beside each other."""
WANTED = 0.8


def predicted(family: Family, problem: Problem, variants: list[Variant], device: Device, store: Store) -> list[Json]:
    """The estimate of each point, or why there is none. Of points that give the same kernel only the first is kept."""
    codes: set[str] = set()
    different: list[Variant] = []
    for variant in variants:
        code = code_of(variant.source) if variant.source else variant.name
        if code not in codes:
            codes.add(code)
            different.append(variant)

    def one(variant: Variant) -> Json:
        if variant.source is None:
            return {"point": variant.name, "why": "the library cannot write it so"}
        try:
            profile = static_profile(problem, variant.source, device, family.policy, store)
        except CandidateError as error:
            return {"point": variant.name, "why": f"{error.status}: {error.feedback.splitlines()[0][:200]}"}
        spills = max((launch.spills for launch in profile.launches), default=0)
        return {"point": variant.name, "estimate_ms": profile.estimate_ms, "spills": spills}

    with ThreadPoolExecutor(CORES) as pool:
        return list(pool.map(one, different))


def timed(job: Job, rows: list[Json], sources: dict[str, str]) -> list[Json]:
    """The same rows with `median_ms` where the point could be timed."""
    names = [row["point"] for row in rows if "estimate_ms" in row]
    found = Times()
    with stand(job) as opened:
        for group in (names[first : first + AT_ONCE] for first in range(0, len(names), AT_ONCE)):
            turn = opened.times({place(name): sources[name] for name in group}, ROUNDS, SHARE)
            found.median_ms.update(turn.median_ms)
            found.failed.update(turn.failed)
    for row in rows:
        key = place(row["point"])
        if key in found.median_ms:
            row["median_ms"] = found.median_ms[key]
        elif "estimate_ms" in row:
            row["why"] = f"not timed: {found.failed.get(key, 'no reason was given')[:200]}"
    return rows


def place(name: str) -> str:
    """A folder's name for a point."""
    return "".join(c if c.isalnum() else "-" for c in name)


def summary(parts: dict[str, Json]) -> Json:
    """Figures over all kernels; None where nothing was timed."""
    pairs = {name: _pairs(part) for name, part in parts.items()}
    known = {name: part["spearman"] for name, part in parts.items() if part.get("spearman") is not None}
    factors = sorted(exp(abs(log(own / real))) for both in pairs.values() for own, real in both)
    measured = len(factors)
    return {
        "points": measured,
        "kernels": len(known),
        "predicted": sum("estimate_ms" in row for part in parts.values() for row in part["points"]),
        "spearman": {"least": min(known.values()), "median": median(known.values())} if known else None,
        "factor": {"median": median(factors), "nine_of_ten": quantiles(factors, n=10, method="inclusive")[8]}
        if measured > 1
        else None,
    }


def told(found: Json) -> str:
    """The summary in a line."""
    if not found["points"]:
        return f"{found['predicted']} points predicted; no GPU here, nothing was timed"
    rho, factor = found["spearman"], found["factor"]
    return (
        f"{found['points']} points of {found['kernels']} kernels: rank correlation within a kernel "
        f"{rho['median']:.2f} in the middle, {rho['least']:.2f} at worst; off by a factor of {factor['median']:.2f} "
        f"typically, nine of ten within {factor['nine_of_ten']:.2f}"
    )


def _pairs(part: Json) -> list[tuple[float, float]]:
    return [(row["estimate_ms"], row["median_ms"]) for row in part["points"] if "median_ms" in row]


def _part(family: Family, device: Device, store: Store, job: Any = None) -> tuple[Any, Any]:
    """What a family's part depends on, and how it is made."""
    problem = problem_of(family)
    points = variants(family, problem, device, store)
    digest = sha256("\0".join(f"{v.name}\0{v.source}" for v in points).encode()).hexdigest()[:16]

    def produce() -> Json:
        rows = predicted(family, problem, points, device, store)
        clock = job(problem) if job else None
        if clock is None and device.present:
            clock = Job(problem, device, family.policy, reader(device.uuid))
        if clock is not None:
            rows = timed(clock, rows, {v.name: v.source for v in points if v.source})
        part: Json = {"kind": family.kind, "problem": family.problem, "policy": family.policy.value, "points": rows}
        pairs = _pairs(part)
        rho = spearman(*zip(*pairs, strict=True)) if len(pairs) > 2 else float("nan")
        return part | {"spearman": None if isnan(rho) else rho}

    return digest, produce


def _line(name: str, part: Json) -> str:
    pairs = _pairs(part)
    rho = part["spearman"]
    mark = "!!" if rho is not None and rho < WANTED else "  "
    spread = f"{min(r for _, r in pairs):.4f} to {max(r for _, r in pairs):.4f} ms" if pairs else "not timed"
    order = f"rank correlation {rho:.2f}" if rho is not None else "no order"
    return f"{mark} {name:20} {part['kind']:22} {len(pairs):3} of {len(part['points']):3} points, {spread}, {order}"


def main() -> int:
    """Predict, time, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="kernels; all by default")
    parser.add_argument("--out", type=Path, required=True, help="results file; what it holds already is not done again")
    parser.add_argument("--plot", type=Path, help="scatter plot, .svg or .png; needs matplotlib")
    options = parser.parse_args()
    chosen = [family for family in FAMILIES if not options.names or family.name in options.names]
    names = [family.name for family in FAMILIES]
    try:
        device = detect_device(None)
        parts = Parts(options.out, "python -m egg.evals.estimator", device, Policy.STOCK, VERSION, names)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    store = Store()
    for family in chosen:
        of, produce = _part(family, device, store)
        print(_line(family.name, parts.get(family.name, produce, of)), flush=True)
    found = summary(parts.found)
    parts.write({"summary": found})
    print(told(found))
    if options.plot:
        try:
            save_scatter(parts.found, device.name, options.plot)
        except UserError as error:
            print(error, file=sys.stderr)
    shutdown()
    return 0 if found["spearman"] is None or found["spearman"]["least"] >= WANTED else 1


if __name__ == "__main__":
    stoppable(main)
