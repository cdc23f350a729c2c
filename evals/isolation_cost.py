"""What isolation costs: `python -m egg.evals.isolation_cost --out FILE`.

Children with every layer and children with none take turns, forked from the same warm parent; the difference of their
medians is the overhead. On a machine with a GPU the child also sets CUDA up and runs a kernel. Ends with code 1 when
more than the limit is added.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from egg.state.isolation import Isolation
from egg.tools.sandbox.client import Bounds, run, shutdown
from egg.tools.sandbox.isolation import VARIABLE, in_force, isolation, probe_afresh

LIMIT_S = 0.5
CANARY_LIMIT_S = 0.3
ROUNDS = 25
GPU_ROUNDS = 10
NOTHING = "egg.tools.sandbox.canary:nothing"
CUDA = "egg.tools.tasks.gpu:properties"


def child_seconds(task: str, asked: str, *, interpret: bool) -> float:
    """Of one child from the request to the answer and its end."""
    os.environ[VARIABLE] = asked
    in_force(interpret)  # found out before the clock runs
    began = perf_counter()
    run(task, {}, Bounds(seconds=120, memory_bytes=16 << 30), interpret=interpret).require(task)
    return perf_counter() - began


def compare(task: str, rounds: int, *, interpret: bool) -> dict[str, Any]:
    """Medians in seconds, and the isolation they were measured under."""
    for asked in ("none", "auto"):  # what is loaded late is loaded now
        child_seconds(task, asked, interpret=interpret)
    bare, apart = [], []
    for _ in range(rounds):
        bare.append(child_seconds(task, "none", interpret=interpret))
        apart.append(child_seconds(task, "auto", interpret=interpret))
    canary = [probe_afresh(interpret) for _ in range(5)]
    return {
        "bare_s": median(bare),
        "isolated_s": median(apart),
        "overhead_s": median(apart) - median(bare),
        "canary_s": median(canary),
        "children": rounds,
        "isolation": isolation(interpret=interpret).model_dump(mode="json"),
    }


def report(what: str, found: dict[str, Any]) -> str:
    """One line for people."""
    level = Isolation.model_validate(found["isolation"])
    bare, apart, more, canary = (1e3 * found[key] for key in ("bare_s", "isolated_s", "overhead_s", "canary_s"))
    return (
        f"{what}: bare {bare:.1f} ms, isolated (level {level.level}, {level.name}) {apart:.1f} ms, "
        f"overhead {more:+.1f} ms (limit {1e3 * LIMIT_S:.0f}); "
        f"trying it out {canary:.0f} ms (limit {1e3 * CANARY_LIMIT_S:.0f})"
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="a JSON file for the figures")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    found = {
        "interpreter": compare(NOTHING, given.rounds, interpret=True),
        "programs": compare(NOTHING, given.rounds, interpret=False),
    }
    if Path("/dev/nvidiactl").exists():
        found["gpu"] = compare(CUDA, min(given.rounds, GPU_ROUNDS), interpret=False)
    shutdown()
    for what, figures in found.items():
        print(report(what, figures))
    if given.out:
        given.out.write_text(json.dumps(found, indent=2) + "\n")
    if any(figures["overhead_s"] > LIMIT_S for figures in found.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
