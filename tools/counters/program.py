"""Nsight Compute's command: where it is, what it may be asked, and how."""

import os
import re
import shutil
import subprocess
from functools import cache
from glob import glob
from pathlib import Path
from typing import NamedTuple

INSTALLED = "/opt/nvidia/nsight-compute"
"""Where NVIDIA's packages put every version; what stands in PATH is a script that looks there."""
SETTINGS = {
    "NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT": "1",
    "NV_COMPUTE_PROFILER_LOCAL_CONNECTION_OVERRIDE": "uds",
    "LC_ALL": "C",
}
"""Else it copies its section files into the user's documents, may want a network, and groups digits as people do."""
ANSWER_S = 60.0
LEAST_NAMES = 100
"""Fewer metrics than this are no list of a GPU's metrics."""
MOST_LAUNCHES = 200
"""Of a pass: each is run some twenty times over."""


class Program(NamedTuple):
    """One installation. `folders`: all that it consists of."""

    path: str
    folders: tuple[str, ...]


def find() -> Program | None:
    """The one in PATH, else the newest of NVIDIA's packages, else the CUDA toolkit's; None where there is none."""
    elsewhere = ["/usr/local/cuda/bin/ncu", *sorted(glob(f"{INSTALLED}/*/ncu"), key=_numbers)]
    path = shutil.which("ncu") or next((place for place in reversed(elsewhere) if os.access(place, os.X_OK)), None)
    if path is None:
        return None
    folders = (os.path.dirname(os.path.abspath(path)), str(Path(path).resolve().parent), INSTALLED)
    return Program(path, tuple(dict.fromkeys(folder for folder in folders if os.path.isdir(folder))))


@cache
def version(path: str) -> str:
    """`2025.3.1.0`; empty if it does not answer."""
    return next(iter(re.findall(r"Version ([\d.]+)", _answer(path, "--version"))), "")


@cache
def known(path: str) -> frozenset[str]:
    """Base names of the metrics that it can read of this machine's GPUs; empty if it does not say."""
    names = frozenset(re.findall(r"^([a-z0-9]+__\w+)", _answer(path, "--query-metrics"), re.MULTILINE))
    return names if len(names) >= LEAST_NAMES else frozenset()


def command(path: str, names: tuple[str, ...], log: str, without: tuple[str, ...] = ()) -> list[str]:
    """What starts it, but for the program to profile: all kernels between cudaProfilerStart and -Stop, as CSV.

    `without`: options that its version does not know.

    Nobody changes the GPU's clocks or the state of its matrix units; caches are flushed before each run of a kernel.
    """
    options = {
        "--metrics": ",".join(names),
        "--log-file": log,
        "--page": "raw",
        "--print-units": "base",
        "--profile-from-start": "off",
        "--target-processes": "application-only",
        "--launch-count": str(MOST_LAUNCHES),
        "--replay-mode": "kernel",
        "--cache-control": "all",
        "--clock-control": "none",
        "--pipeline-boost-state": "dynamic",
        "--config-file": "off",
        "--apply-rules": "no",
    }
    kept = [part for option in options.items() if option[0] not in without for part in option]
    return [path, *kept, *(flag for flag in ("--csv", "--disable-extra-suffixes") if flag not in without)]


def _answer(path: str, *arguments: str) -> str:
    try:
        environment = {**os.environ, **SETTINGS}
        told = subprocess.run(
            [path, *arguments], capture_output=True, text=True, timeout=ANSWER_S, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return told.stdout


def _numbers(path: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", path)))
