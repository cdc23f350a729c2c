"""Child task: what a candidate's forward passes do on the GPU, each with a cold second-level cache.

By CUPTI, through PyTorch's profiler, one trace a pass, so that what fills the cache before it can be told apart.
Where CUPTI shows nothing, by events as `share.trace` does.
"""

import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from torch.profiler import ProfilerActivity

from egg.tools.tasks.clocks import CudaClock
from egg.tools.tasks.faults import explain
from egg.tools.tasks.launches import Launches
from egg.tools.tasks.ready import ready
from egg.tools.tasks.share import ACTIVITY, activities, by_events, counted

PASSES = 5
SECONDS = 60.0
"""After which no further pass is begun."""

Json = dict[str, Any]


def measure(payload: Json) -> Json:
    """`trace`, as `egg.tools.share.Trace` has it.

    Args:
        payload: `problem`, `source`, `policy`, `seed`, `flush_bytes`.

    Raises:
        CandidateError: the candidate fails.
    """
    clock = CudaClock(payload["flush_bytes"])
    try:
        call, launches = ready(payload, "cuda")
    except Exception as error:
        raise explain(error, payload["source"]) from error
    try:
        return {"trace": by_profiler(call, launches, clock)}
    except (RuntimeError, AssertionError) as error:  # CUPTI is not there, or not for us
        began = perf_counter()
        call()
        seconds = perf_counter() - began
        torch.cuda.synchronize()
        why = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        return {"trace": by_events(call, launches, 1, seconds) | {"why": why}}


def by_profiler(call: Callable[[], Any], launches: Launches, clock: CudaClock) -> Json:
    """By CUPTI.

    Raises:
        RuntimeError: it shows no kernel.
    """
    with torch.profiler.profile(activities=[ProfilerActivity.CUDA]):  # the first one takes its time to begin
        clock.sample(call, apart=True)
    launches.seen = []
    events: list[Json] = []
    began, passes = perf_counter(), 0
    while passes < PASSES and (not passes or perf_counter() - began < SECONDS):
        with torch.profiler.profile(activities=[ProfilerActivity.CUDA]) as profiler:
            clock.sample(call, apart=True)
        events += after_the_flush(traced(profiler))
        passes += 1
    activity = activities(events)
    if not any(one["kind"] == "kernel" for one in activity):
        raise RuntimeError("the profiler saw no kernel")
    return {"how": "cupti", "passes": passes, "launches": counted(launches.seen), "activity": activity}


def traced(profiler: torch.profiler.profile) -> list[Json]:
    """Its events.

    Raises:
        RuntimeError: it left no record.
    """
    path = Path("trace.json").absolute()
    profiler.export_chrome_trace(str(path))
    try:
        events: list[Json] = json.loads(path.read_text(errors="replace"))["traceEvents"]
    except (OSError, ValueError, KeyError) as error:
        raise RuntimeError(f"no trace: {error}") from error
    path.unlink()
    return events


def after_the_flush(events: list[Json]) -> list[Json]:
    """What the GPU did in a pass, in order, without its first act.

    Raises:
        RuntimeError: not even that was seen.
    """
    seen = [event for event in events if event.get("ph") == "X" and str(event.get("cat", "")) in ACTIVITY]
    if not seen:
        raise RuntimeError("the profiler saw nothing")
    return sorted(seen, key=lambda event: float(event["ts"]))[1:]
