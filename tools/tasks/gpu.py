"""Child task: what CUDA says of the GPU. A real context and a real kernel, since the driver answering proves little."""

from typing import Any

import torch


def properties(payload: dict[str, Any]) -> dict[str, Any]:
    """`usable` with the GPU's limits, or not `usable` with the `reason`."""
    if torch.version.cuda is None:
        return {"usable": False, "reason": f"torch {torch.__version__} is a build without CUDA"}
    try:
        probe = torch.ones(1024, device="cuda")
        if probe.sum().item() != 1024:
            return {"usable": False, "reason": "a sum of ones on it is wrong"}
    except RuntimeError as error:
        return {"usable": False, "reason": str(error).splitlines()[0]}
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
