"""Child task: what CUDA says of the GPU. A real context and a real kernel, since the driver answering proves little."""

import shlex
import subprocess
from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]
def _double(x_ptr, y_ptr, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # Triton reads annotations
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


def properties(payload: dict[str, Any]) -> dict[str, Any]:
    """`usable` with the GPU's limits, or not `usable` with the `reason`."""
    if torch.version.cuda is None:
        return {"usable": False, "reason": f"torch {torch.__version__} is a build without CUDA"}
    try:
        probe = torch.ones(1024, device="cuda")
        if probe.sum().item() != 1024:
            return {"usable": False, "reason": "a sum of ones on it is wrong"}
        doubled = torch.empty_like(probe)
        _double[(8,)](probe, doubled, 1000, BLOCK=128)
        if doubled[:1000].sum().item() != 2000:
            return {"usable": False, "reason": "a Triton kernel computes the wrong thing on it"}
    except subprocess.CalledProcessError as error:
        return {"usable": False, "reason": f"Triton's launcher does not compile: {shlex.join(error.cmd)[:300]}"}
    except RuntimeError as error:
        return {"usable": False, "reason": (str(error).splitlines() or [type(error).__name__])[0]}
    props = torch.cuda.get_device_properties(0)
    return {
        "usable": True,
        "name": props.name,
        "target": f"sm_{props.major}{props.minor}",
        "uuid": f"GPU-{props.uuid}",
        "multiprocessors": props.multi_processor_count,
        "shared_bytes": getattr(props, "shared_memory_per_block_optin", 0),
        "shared_bytes_sm": getattr(props, "shared_memory_per_multiprocessor", 0),
        "registers_sm": getattr(props, "regs_per_multiprocessor", 0),
        "threads_sm": getattr(props, "max_threads_per_multi_processor", 0),
        "l2_bytes": getattr(props, "L2_cache_size", 0),
        "memory_bytes": props.total_memory,
        "cuda": torch.version.cuda,
    }
