"""For a candidate's child: which kernels a forward pass keeps the GPU busy with, and which of them it launched itself.

CUPTI's kernel activity through PyTorch's profiler. Where that shows nothing, as in a container that may not use it,
events around each of the candidate's launches, and around the whole call, whose host is made to run ahead.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from egg.tools.tasks.launches import Launch, Launches

Json = dict[str, Any]
Key = tuple[str, str, tuple[int, ...]]

PASSES = 3
MANY_LAUNCHES = 3000
"""Launches of a pass from which on one pass is enough."""
AHEAD_CYCLES_A_SECOND = 6e9
"""Clock cycles that the GPU waits for each second the host takes to launch everything: three times as long."""
ACTIVITY = {"kernel": "kernel", "gpu_memcpy": "memcpy", "gpu_memset": "memset"}


def trace(call: Callable[[], Any], launches: Launches) -> Json:
    """What some passes of `call` did on the GPU, as `egg.tools.share.Trace` has it. The kernels must be warm."""
    launches.seen = []
    began = perf_counter()
    call()
    seconds = perf_counter() - began
    torch.cuda.synchronize()
    passes = 1 if len(launches.seen) > MANY_LAUNCHES else PASSES
    try:
        found = by_profiler(call, launches, passes)
    except (RuntimeError, AssertionError) as error:  # CUPTI is not there, or not for us
        return by_events(call, launches, passes, seconds) | {"why": _line(error)}
    if any(activity["kind"] == "kernel" for activity in found["activity"]):
        return found
    return by_events(call, launches, passes, seconds) | {"why": "the profiler saw no kernel"}


def by_profiler(call: Callable[[], Any], launches: Launches, passes: int) -> Json:
    """By CUPTI.

    Raises:
        RuntimeError: the profiler does not start, or leaves no record.
    """
    launches.seen = []
    path = Path("trace.json").absolute()
    kinds = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds) as profiler:
        for _ in range(passes):
            call()
            torch.cuda.synchronize()
    profiler.export_chrome_trace(str(path))
    try:
        events = json.loads(path.read_text(errors="replace"))["traceEvents"]
    except (OSError, ValueError, KeyError) as error:
        raise RuntimeError(f"no trace: {error}") from error
    path.unlink()
    return {"how": "cupti", "passes": passes, "launches": counted(launches.seen), "activity": activities(events)}


def activities(events: list[Json]) -> list[Json]:
    """A trace's GPU events, those of one kernel and grid together."""
    spans: dict[Key, list[float]] = defaultdict(list)
    for event in events:
        kind = ACTIVITY.get(str(event.get("cat", "")))
        if kind and event.get("ph") == "X":
            grid = tuple(int(size) for size in event.get("args", {}).get("grid", ()))
            spans[kind, str(event["name"]), grid].append(float(event["dur"]))
    return [{"kind": kind, "name": name, "grid": grid, "us": us} for (kind, name, grid), us in spans.items()]


def by_events(call: Callable[[], Any], launches: Launches, passes: int, seconds: float) -> Json:
    """By pairs of events: only the candidate's own launches and the rest can be told apart."""
    spans: dict[Key, list[float]] = defaultdict(list)
    rest: list[float] = []
    launches.seen = []
    for _ in range(passes):
        marks: list[tuple[Launch, Any, Any]] = []
        launches.around = lambda launch, start, marks=marks: _between(launch, start, marks)
        try:
            first, last = _event(), _event()
            torch.cuda._sleep(int((seconds + 0.002) * AHEAD_CYCLES_A_SECOND))  # type: ignore[no-untyped-call]
            first.record()
            call()
            last.record()
            torch.cuda.synchronize()
        finally:
            launches.around = None
        own = 0.0
        for launch, start, end in marks:
            spans["kernel", launch.name, launch.grid].append(1e3 * start.elapsed_time(end))
            own += spans["kernel", launch.name, launch.grid][-1]
        rest.append(max(0.0, 1e3 * first.elapsed_time(last) - own))
    found = [{"kind": kind, "name": name, "grid": grid, "us": us} for (kind, name, grid), us in spans.items()]
    found.append({"kind": "rest", "name": "everything else", "grid": (), "us": rest})
    return {"how": "events", "passes": passes, "launches": counted(launches.seen), "activity": found}


def _between(launch: Launch, start: Callable[[], Any], marks: list[tuple[Launch, Any, Any]]) -> Any:
    before, after = _event(), _event()
    before.record()
    result = start()
    after.record()
    marks.append((launch, before, after))
    return result


def _event() -> Any:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


def counted(seen: list[Launch]) -> list[Json]:
    """The candidate's own launches, equal ones together."""
    counts = Counter((launch.name, launch.function, launch.grid) for launch in seen if launch.own)
    return [
        {"name": name, "function": function, "grid": grid, "count": count}
        for (name, function, grid), count in counts.items()
    ]


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
