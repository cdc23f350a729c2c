"""Does the clock tell the truth? `python -m egg.evals.controls --out FILE`, on a machine with a GPU.

Three questions whose answers are known. The reference against itself: the interval must hold 1, and nobody be called
faster. A kernel that does its work twice: half as fast. Problems bound by launches, memory and arithmetic: what the
events say must be what CUPTI says of the kernels. If FILE has rows of the same commit on such a GPU, they stay.
"""

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median, stdev
from typing import Any

from egg.evals.provenance import provenance, write_results
from egg.evals.small import CHAIN, load
from egg.evals.stopping import stoppable
from egg.state.device import Device
from egg.state.errors import MachineError, UserError
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.device import detect_device
from egg.tools.exclusive import exclusive
from egg.tools.problem import load_problem
from egg.tools.sandbox.client import Bounds, run
from egg.tools.timing.interleave import Job, Plan, sessions
from egg.tools.timing.measure import THOROUGH, Floors, Measurement, conclude
from egg.tools.timing.nvml import reader
from egg.tools.timing.session import CANDIDATE, EAGER
from egg.tools.timing.sides import FLUSHES, Side

PROBLEMS = Path(__file__).parent / "problems"
ALIKE = ("layernorm_gelu", "linear_gelu", "row_sum", "cross_entropy", "chain")
REPEATS = 4
MISSES = 0.05
"""Share of intervals that may miss 1: what a 95 % interval promises."""
TWICE = ("rmsnorm", "linear_gelu")
TWICE_WITHIN = 0.02
AGREE_WITHIN = 0.03
AGREE = {"chain": "launches", "rmsnorm": "memory", "linear_gelu": "arithmetic"}
SAMPLES = 50
ROWS = ("agreement", "twice", "against_itself")

ITSELF = "\n\nModelNew = Model\n"
TWICE_OVER = """

class ModelNew(Model):
    def forward(self, *given):
        super().forward(*given)
        return super().forward(*given)
"""
Row = dict[str, Any]


def named(name: str) -> Problem:
    """One of our own problems, or the chain of launches."""
    return load(name, CHAIN) if name == "chain" else load_problem(str(PROBLEMS / f"{name}.py"))


def against_itself(name: str, device: Device, policy: Policy, number: int, plan: Plan) -> Row:
    """A row: the reference as its own candidate."""
    measured = _measured(named(name), ITSELF, device, policy, plan)
    speedup = measured.speedups[0]
    return {
        "problem": name,
        "repeat": number,
        "median_ms": measured.timing.median_ms,
        **speedup.model_dump(exclude={"baseline"}),
        "holds_1": speedup.low <= 1.0 <= speedup.high,
        "faster": speedup.proven,
        "conditions": measured.conditions.model_dump(mode="json"),
    }


def twice(name: str, device: Device, policy: Policy, plan: Plan) -> Row:
    """A row: the reference against doing it twice."""
    speedup = _measured(named(name), TWICE_OVER, device, policy, plan).speedups[0]
    right = abs(speedup.ratio - 0.5) <= TWICE_WITHIN
    return {"problem": name, **speedup.model_dump(exclude={"baseline"}), "right": right}


def agreement(name: str, device: Device, policy: Policy) -> Row:
    """A row: the same calls by events and by CUPTI.

    Where kernels are long the events, taken without a profiler, must agree with the sum of the kernels; where launches
    take longer than kernels, with the span that the events enclose, of the very same calls.
    """
    payload = {
        "problem": named(name).source, "policy": policy.value, "seed": 1, "samples": SAMPLES,
        "flush_bytes": FLUSHES * device.l2_bytes,
    }  # fmt: skip
    with exclusive(device):
        reply = run("egg.tools.tasks.cupti:agree", payload, Bounds(seconds=300, memory_bytes=64 << 30))
    row: Row = {"problem": name, "bound": AGREE[name]}
    if not reply.ok:
        return {**row, "agrees": None, "why": reply.error}
    seen = reply.value
    ours, theirs = ("event_ms", "span_ms") if AGREE[name] == "launches" else ("event_alone_ms", "kernels_ms")
    apart = seen[ours] / seen[theirs] - 1
    return {**row, **seen, "compared": [ours, theirs], "apart": apart, "agrees": abs(apart) <= AGREE_WITHIN}


def verdict(results: dict[str, Any]) -> dict[str, bool]:
    """What is shown by the rows there are."""
    alike, doubled, agreed = results["against_itself"], results["twice"], results["agreement"]
    holds = sum(row["holds_1"] for row in alike)
    return {
        "the interval holds 1 in all but one of twenty": bool(alike) and len(alike) - holds <= MISSES * len(alike),
        "equals are never called faster": bool(alike) and not any(row["faster"] for row in alike),
        "twice the work is half as fast": bool(doubled) and all(row["right"] for row in doubled),
        "events agree with CUPTI": bool(agreed) and all(row["agrees"] for row in agreed),
    }


def earlier(out: Path, now: dict[str, Any]) -> dict[str, list[Row]]:
    """Rows that the file already has of this commit, policy and kind of GPU: a long run goes on where it stopped."""
    before = json.loads(out.read_text()) if out.exists() else {}
    same = all(before.get(name) == now[name] for name in ("commit", "policy", "command"))
    alike = same and all(before["device"][name] == now["device"][name] for name in ("name", "driver", "software"))
    return {kind: before[kind] if alike else [] for kind in ROWS}


def _measured(problem: Problem, source: str, device: Device, policy: Policy, plan: Plan) -> Measurement:
    job = Job(problem, device, policy, reader(device.uuid), "cuda" if device.present else "cpu")
    sides = {EAGER: Side(), CANDIDATE: Side(source=problem.source + source)}
    return conclude(job, sessions(job, sides, plan), Floors())


def main() -> int:
    """Run all, write after each row; 0 if all is shown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="results file")
    parser.add_argument("--policy", type=Policy, default=Policy.STOCK)
    parser.add_argument("--repeats", type=int, default=REPEATS, help="of each problem against itself")
    options = parser.parse_args()
    device = detect_device(None)
    if not device.present:
        raise UserError("no GPU is in this machine: there is no clock to put to the test")
    plan = THOROUGH._replace(beside=False, outputs=1)
    results: dict[str, Any] = provenance("egg.evals.controls", device, options.policy)
    results |= {"plan": plan._asdict(), **earlier(options.out, results), "shown": {}}
    jobs: list[tuple[str, Callable[[], Row]]] = [
        *(("agreement", partial(agreement, name, device, options.policy)) for name in AGREE),
        *(("twice", partial(twice, name, device, options.policy, plan)) for name in TWICE),
        *(
            ("against_itself", partial(against_itself, name, device, options.policy, number, plan))
            for number in range(options.repeats)
            for name in ALIKE
        ),
    ]
    done = {kind: len(results[kind]) for kind in ROWS}
    for kind, job in jobs:
        if done[kind]:
            done[kind] -= 1
            continue
        row = job()
        results[kind].append(row)
        results["shown"] = verdict(results)
        write_results(options.out, results)
        print(kind, *(f"{key}={_short(value)}" for key, value in row.items() if key != "conditions"), flush=True)
    results["shown"] = verdict(results)
    ratios = [row["ratio"] for row in results["against_itself"]]
    if len(ratios) > 1:
        print(f"equals: median ratio {median(ratios):.4f}, standard deviation {stdev(ratios):.4f}")
    for claim, shown in results["shown"].items():
        print(f"{'yes' if shown else 'NO ':4} {claim}")
    return 0 if all(results["shown"].values()) else 1


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    try:
        stoppable(main)
    except (MachineError, UserError) as error:
        raise SystemExit(f"error: {error}") from error
