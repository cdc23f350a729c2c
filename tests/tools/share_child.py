"""Run in children, which alone load PyTorch: launches for a GPU that is not there, and a trace in Kineto's format."""

from pathlib import Path
from typing import Any

import torch

from egg.tools.device import detect_device
from egg.tools.tasks.desk import Desk
from egg.tools.tasks.launches import Launches
from egg.tools.tasks.module import load_module
from egg.tools.tasks.share import activities
from egg.tools.tasks.target import Recorder

KERNELS = """
import torch
import triton
import triton.language as tl


@triton.jit
def double(x, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, 2 * tl.load(x + at))


@triton.autotune(configs=[triton.Config({"BLOCK": 64})], key=[])
@triton.jit
def tuned(x, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, 2 * tl.load(x + at))


def plain(x):
    double[(4,)](x, BLOCK=64)


def more(x):
    compiled = double.warmup(x, BLOCK=128, grid=(1,))
    compiled[(2, 1, 1)](x, 128)
    tuned[lambda meta: (256 // meta["BLOCK"],)](x)
"""


def launched(payload: dict[str, Any]) -> dict[str, Any]:
    """Launches seen, those that reached the driver, and those handed to `around`."""
    recorder = Recorder(detect_device("sm_90"), Desk(eager=False))
    recorder.install()
    launches = Launches(Path("candidate.py").absolute())
    launches.seen, launches.mode = [], payload["mode"]
    mine, other = load_module(KERNELS, "candidate"), load_module(KERNELS, "other")
    x = torch.empty(256, device="meta")
    mine.plain(x)
    mine.more(x)
    asked: list[str] = []

    def around(launch: Any, start: Any) -> Any:
        asked.append(launch.name)
        return start()

    other.plain(x)
    seen = [[launch.name, list(launch.grid), launch.own] for launch in launches.seen]
    recorded = len(recorder.launches)
    launches.around = around
    mine.plain(x)
    other.plain(x)
    return {"launches": seen, "recorded": recorded, "around": len(asked)}


def parsed(payload: dict[str, Any]) -> dict[str, Any]:
    """Three launches, a fill, and what else such a file holds."""

    def event(cat: str, name: str, dur: float, **args: Any) -> dict[str, Any]:
        return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": 1.0, "dur": dur, "args": args}

    events = [
        {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "python"}},
        event("kernel", "mine", 4.5, grid=[8, 1, 1], block=[128, 1, 1], correlation=3, stream=7),
        event("cuda_driver", "cuLaunchKernelEx", 9.0, correlation=3),
        event("kernel", "mine", 7.0, grid=[9, 1, 1]),
        event("kernel", "mine", 5.5, grid=[8, 1, 1]),
        event("gpu_memset", "Memset (Device)", 1.25, bytes=4),
        {"ph": "f", "cat": "ac2g", "id": 3, "name": "ac2g", "pid": 0, "tid": 7, "ts": 1.0},
    ]
    return {"activity": activities(events)}
