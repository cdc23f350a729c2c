"""For child tasks: the inputs of one correctness case, the same in every child that is given the same case."""

from types import ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_map

from egg.tools.tasks.module import make_inputs

OUTLIERS = 0.002
OUTLIER_SCALE = 30.0


def case_inputs(module: ModuleType, case: dict[str, Any], device: str) -> list[Any]:
    """Inputs of the problem; all but those of kind `own` have their floating-point values redrawn."""
    inputs = make_inputs(module, case["seed"], device)
    if case["kind"] == "own":
        return inputs
    generator = torch.Generator(device).manual_seed(case["seed"] + 1)

    def redraw(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or _is_flag(value):
            return value
        return torch.empty_like(value).copy_(_draw(case["kind"], value.shape, generator))

    return list(tree_map(redraw, inputs))


def _draw(kind: str, shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    device = generator.device
    if kind == "integers":
        return torch.randint(-3, 4, shape, generator=generator, device=device).float()
    if kind == "ones":
        return torch.ones(shape, device=device)
    if kind == "arange":
        return torch.arange(shape.numel(), device=device).reshape(shape).remainder(1021).float()
    normal = torch.randn(shape, generator=generator, device=device)
    if kind == "normal":
        return normal
    if kind == "heavy":
        outliers = torch.rand(shape, generator=generator, device=device) < OUTLIERS
        drawn = torch.where(outliers, normal * OUTLIER_SCALE, normal)
        drawn.view(-1)[-1:] = OUTLIER_SCALE  # where a kernel that drops the tail loses most
        return drawn
    raise ValueError(f"no such kind of case: {kind}")


def _is_flag(value: torch.Tensor) -> bool:
    """Whether it holds at most two values: a mask or a constant, whose meaning other values would break."""
    if value.numel() < 2:
        return False
    low, high = value.amin(), value.amax()
    return bool(((value == low) | (value == high)).all())
