"""Of a traced pass, everything but the write that empties the cache before it."""

from typing import Any

from egg.tools.sandbox.client import Bounds, run


def event(name: str, start: float, took: float, kind: str = "kernel", **args: object) -> dict[str, Any]:
    return {"ph": "X", "cat": kind, "name": name, "ts": start, "dur": took, "args": args}


def kept(events: list[dict[str, Any]]) -> dict[str, Any]:
    return run("tests.tools.counters.tracing:kept", {"events": events}, Bounds(seconds=60)).require("kept")


def test_the_first_act_is_the_flush_whatever_the_order_of_events() -> None:
    events = [
        event("norm", 30.5, 4.0, grid=[8, 1, 1]),
        {"ph": "M", "name": "process_name"},
        event("cudaLaunchKernel", 1.0, 1.0, "cuda_runtime"),
        event("Memset (Device)", 2.0, 20.0, "gpu_memset"),
        event("Memset (Device)", 25.0, 2.0, "gpu_memset"),
        event("norm", 40.0, 6.0, grid=[8, 1, 1]),
    ]
    assert kept(events)["activity"] == [
        {"kind": "memset", "name": "Memset (Device)", "grid": [], "us": [2.0]},
        {"kind": "kernel", "name": "norm", "grid": [8, 1, 1], "us": [4.0, 6.0]},
    ]


def test_a_trace_without_a_gpu_is_none() -> None:
    assert "nothing" in kept([event("cudaLaunchKernel", 1.0, 1.0, "cuda_runtime")])["why"]
