"""Run in a child, which alone loads PyTorch: the small decisions of KernelBench's protocol."""

from types import SimpleNamespace
from typing import Any

import torch

from egg.tools.tasks.stock import _cast, mean_ms, precision, trial_seeds


def numbers(payload: dict[str, Any]) -> dict[str, Any]:
    torch.manual_seed(42)
    drawn = [torch.randint(0, 2**32 - 1, (1,)).item() for _ in range(5)]
    torch.manual_seed(7)  # whatever came before
    problems = [
        [torch.ones(2), torch.ones(2, dtype=torch.int64)],
        [torch.ones(2, dtype=torch.bfloat16), torch.ones(2, dtype=torch.bool)],
        [torch.ones(2, dtype=torch.int8), 3.0],
    ]
    mixed = [torch.ones(2), torch.ones(2, dtype=torch.int64), 3]
    cast = [_cast(value, "cpu", torch.float16) for value in mixed]
    return {
        "seeds": trial_seeds(),
        "drawn": drawn,
        "means": [mean_ms([0.01234]), mean_ms([12.25, 12.35]), mean_ms([1234.0, 1226.0])],
        "types": [str(precision(SimpleNamespace(get_inputs=lambda p=p: p))) for p in problems],  # type: ignore[arg-type, misc]
        "cast": [str(value.dtype) if isinstance(value, torch.Tensor) else type(value).__name__ for value in cast],
    }
