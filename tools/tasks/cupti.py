"""Child task: the same calls by the timer's clock and by CUPTI, to see whether the clock can be believed."""

import json
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import torch

from egg.tools.tasks.clocks import CudaClock
from egg.tools.tasks.module import build_model, load_module, make_inputs, set_policy

WARM_CALLS = 20
KINDS = ("kernel", "gpu_memcpy", "gpu_memset")


class Activity(NamedTuple):
    """Something the GPU did. Microseconds since the trace began."""

    start: float
    end: float


def agree(payload: dict[str, Any]) -> dict[str, Any]:
    """Time the reference's forward pass both ways.

    Args:
        payload: `problem`, `policy`, `seed`, `flush_bytes`, `samples`.

    Returns:
        Medians: `event_alone_ms` without a profiler, `event_ms` under it; of the latter calls `kernels_ms`, the sum of
        what the GPU did, and `span_ms`, from the end of the flush to the end of the last kernel, which is what the
        events enclose; and `kernels`, their number.

    Raises:
        RuntimeError: CUPTI does not show every call.
    """
    clock, samples = CudaClock(payload["flush_bytes"]), payload["samples"]
    set_policy(payload["policy"])
    problem = load_module(payload["problem"], "problem")
    model = build_model(problem.Model, problem, payload["seed"], "cuda")
    sets = [make_inputs(problem, payload["seed"] + number, "cuda") for number in range(2)]
    turn = 0

    def call() -> Any:
        nonlocal turn
        turn += 1
        return model(*sets[turn % len(sets)])

    with torch.no_grad():
        for _ in range(WARM_CALLS):
            clock.sample(call, apart=False)
        alone = [clock.sample(call, apart=False)[0] for _ in range(samples)]
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
            for _ in range(WARM_CALLS):
                clock.sample(call, apart=False)
            events = [clock.sample(call, apart=False)[0] for _ in range(samples)]
    path = Path("trace.json").absolute()
    profiler.export_chrome_trace(str(path))
    calls = by_call(json.loads(path.read_text(errors="replace"))["traceEvents"], WARM_CALLS + samples)[WARM_CALLS:]
    return {
        "event_alone_ms": median(alone),
        "event_ms": median(events),
        "kernels_ms": median(sum(one.end - one.start for one in mine[1:]) for mine in calls) / 1e3,
        "span_ms": median(mine[-1].end - mine[0].end for mine in calls) / 1e3,
        "kernels": len(calls[0]) - 1,
    }


def by_call(events: list[dict[str, Any]], calls: int) -> list[list[Activity]]:
    """What the GPU did, call by call; the first of each is the flush.

    Raises:
        RuntimeError: it cannot be divided evenly.
    """
    seen = sorted(
        Activity(float(event["ts"]), float(event["ts"]) + float(event["dur"]))
        for event in events
        if event.get("ph") == "X" and event.get("cat") in KINDS
    )
    each, rest = divmod(len(seen), calls)
    if rest or each < 2:
        raise RuntimeError(f"CUPTI shows {len(seen)} activities in {calls} calls")
    return [seen[number * each : (number + 1) * each] for number in range(calls)]
