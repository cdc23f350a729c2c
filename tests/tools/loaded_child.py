"""Run in a child, on a GPU: a candidate's forward pass, and what the driver says of the kernels it loaded for it."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import torch
from triton.runtime.jit import JITFunction

from egg.tools.tasks.module import load_module, set_policy


def loaded(payload: dict[str, Any]) -> dict[str, Any]:
    """Resources of each kernel; one that an autotuner or heuristics wrap too."""
    set_policy("tf32")
    module = load_module(payload["source"], "candidate")
    model = module.ModelNew(512).cuda()
    with torch.no_grad():
        model(torch.randn(1024, 512, device="cuda"))
    torch.cuda.synchronize()
    return {"kernels": [_told(kernel) for kernel in _kernels(module)]}


def _kernels(module: ModuleType) -> Iterator[Any]:
    for value in vars(module).values():
        while not isinstance(value, JITFunction) and hasattr(value, "fn"):
            value = value.fn
        if isinstance(value, JITFunction):
            for caches in value.device_caches.values():
                yield from caches[0].values()


def _told(kernel: Any) -> dict[str, Any]:
    kernel._init_handles()
    return {
        "name": kernel.name,
        "registers": kernel.n_regs,
        "stack_bytes": 4 * kernel.n_spills,
        "shared_bytes": kernel.metadata.shared,
        "warps": kernel.metadata.num_warps,
    }
