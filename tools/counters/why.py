"""Why there are no counters, in one line, from what Nsight Compute wrote."""

import re
from typing import NamedTuple

ADVICE = "https://developer.nvidia.com/ERR_NVGPUCTRPERM"
KNOWN = (
    ("ERR_NVGPUCTRPERM", f"this user may not read the GPU's counters ({ADVICE})"),
    ("is not compatible with Nsight Compute", "Nsight Compute does not fit the driver"),
    ("LibraryNotLoaded", "Nsight Compute cannot reach the GPU's counters here"),
    ("Profiling is not supported on", "Nsight Compute does not support this GPU"),
    ("another profiler", "another profiler holds the GPU's counters"),
    ("ResourceInUse", "another profiler holds the GPU's counters"),
    ("failed to connect to the CUDA driver", "Nsight Compute cannot reach the CUDA driver"),
)
NONE_SEEN = "No kernels were profiled"
FOR_GOOD = KNOWN[:4]
"""What the next kernel would meet too."""


class Refusal(NamedTuple):
    """One line, and whether there is no use in asking again."""

    why: str
    lasting: bool


def refusal(log: str, printed: str, code: int | None) -> Refusal:
    """From the profiler's log, what it and the program printed, and its exit code; None if it had to be ended."""
    both = f"{log}\n{printed}"
    for sign, meaning in KNOWN:
        if sign in both:
            return Refusal(meaning, any(sign == lasting for lasting, _ in FOR_GOOD))
    if code is None:
        return Refusal("Nsight Compute took too long", False)
    if NONE_SEEN in both:  # what the program itself said last may tell why
        return Refusal(f"Nsight Compute saw no kernel: {_last(printed)}".removesuffix(": "), False)
    said = _last("\n".join(re.findall(r"==ERROR== ?(.*)", both))) or _last(both) or "and said nothing"
    return Refusal(f"Nsight Compute ended with {code}: {said}", False)


def _last(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return "".join(c for c in lines[-1] if c.isprintable())[:160] if lines else ""


def unknown_names(log: str) -> tuple[str, ...]:
    """Metrics that it did not find."""
    return tuple(re.findall(r"Failed to find metric (?:regex:\^?)?([a-z0-9]+__\w+(?:\.\w+)*)", log.replace("\\", "")))


def unknown_options(log: str) -> tuple[str, ...]:
    """Options that this version does not know."""
    return tuple(re.findall(r"unrecogni[sz]ed option '?(--[a-z-]+)", log))
