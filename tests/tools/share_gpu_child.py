"""Run in children, on a GPU: the same forward passes by CUPTI and by events."""

from time import perf_counter
from typing import Any

import torch

from egg.tools.tasks.launches import Launches
from egg.tools.tasks.module import load_module
from egg.tools.tasks.share import by_events, by_profiler, trace

KERNELS = """
import torch
import triton
import triton.language as tl


@triton.jit
def ampere_sgemm_128x64_tn(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


@triton.autotune(configs=[triton.Config({"BLOCK": 512}), triton.Config({"BLOCK": 1024})], key=["n"])
@triton.jit
def tuned(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


def double(x):
    y = torch.empty_like(x)
    ampere_sgemm_128x64_tn[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y


def own(x):
    return double(double(x))


def autotuned(x):
    y = torch.empty_like(x)
    tuned[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y


def warmed(x):
    y = torch.empty_like(x)
    kernel = ampere_sgemm_128x64_tn.warmup(x, y, x.numel(), BLOCK=1024, grid=(1,))
    kernel[(triton.cdiv(x.numel(), 1024), 1, 1)](x, y, x.numel(), 1024)
    return y


def mixed(x):
    return double(x @ x)


def moved(x):
    return double(torch.zeros_like(x)).copy_(x.t())


compiled = torch.compile(lambda x: torch.relu(x) * 3 + 1)


def forged(x):
    return compiled(x)
"""


def traced(payload: dict[str, Any]) -> dict[str, Any]:
    """Traces of a function of the kernels above: `cupti`, `events`, and the one that would be chosen."""
    with torch.no_grad():
        module = load_module(KERNELS, "candidate")
        x = torch.randn(payload["side"], payload["side"], device="cuda")

        def call() -> Any:
            return getattr(module, payload["name"])(x)

        for _ in range(5):
            call()
        torch.cuda.synchronize()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        torch.cuda._sleep(20_000_000)  # type: ignore[no-untyped-call]
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        launches = Launches()
        began = perf_counter()
        chosen = trace(call, launches)
        seconds = perf_counter() - began
        events = by_events(call, launches, 3, 0.001)
        return {
            "whole_ms": start.elapsed_time(end),
            "seconds": seconds,
            "chosen": chosen,
            "events": events,
            "cupti": by_profiler(call, launches, 3),
        }
