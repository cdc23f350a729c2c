"""For child tasks: the inputs of one correctness case, the same in every child that is given the same case."""

from collections.abc import Callable
from types import ModuleType
from typing import Any, NotRequired, TypedDict

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from egg.tools.tasks.inputs import inputs_of_call
from egg.tools.tasks.module import make_inputs
from egg.tools.tasks.weights import State, is_flag

OUTLIERS = 0.002
OUTLIER_SCALE = 30.0
LARGE = 200.0
LEAST_EXPONENT = -24
TAIL = 8


class Case(TypedDict):
    """What decides the inputs of one call, and the state that the model is in."""

    kind: str
    """`own`: as the problem makes them; else the floating-point inputs are redrawn: `normal`, `uniform`, `heavy`,
    `integers`, `large`, `rows`, `ones`, `arange`; `timed`: as the timer gives them to a call."""
    seed: int
    draw: int
    """Seed of the generators during the forward pass."""
    weights: State
    strided: bool
    """Whether the inputs are laid out unlike freshly made tensors: transposed, or with gaps."""
    sets: NotRequired[int]
    turn: NotRequired[int]
    """Of a timed call: number of input sets, and of the call."""


def case_inputs(module: ModuleType, case: Case, device: str) -> list[Any]:
    """Inputs of the problem; all but those of kind `own` have their floating-point values redrawn."""
    if case["kind"] == "timed":
        return inputs_of_call(module, case["seed"], case["sets"], case["turn"], device)
    inputs = make_inputs(module, case["seed"], device)
    leaves, form = tree_flatten(inputs)
    if case["kind"] != "own":
        generator = torch.Generator(device).manual_seed(case["seed"] + 1)
        leaves = [_redrawn(leaf, case["kind"], generator) for leaf in leaves]
    if case["strided"]:
        leaves = [strided(leaf, number) for number, leaf in enumerate(leaves)]
    return list(tree_unflatten(leaves, form))


def redrawable(leaf: Any) -> bool:
    """Whether it is data: floating point, and no mask or constant, whose meaning other values would break."""
    return isinstance(leaf, torch.Tensor) and leaf.is_floating_point() and not is_flag(leaf)


def strided(leaf: Any, number: int) -> Any:
    """The same values, laid out as a transposed matrix, or, every second time, with gaps between neighbours."""
    if not isinstance(leaf, torch.Tensor) or not leaf.is_floating_point() or leaf.dim() == 0 or leaf.numel() < 2:
        return leaf
    if number % 2 == 0 and leaf.dim() >= 2 and min(leaf.shape[-2:]) > 1:
        return leaf.transpose(-1, -2).contiguous().transpose(-1, -2)
    wide = torch.zeros(*leaf.shape[:-1], 2 * leaf.shape[-1], dtype=leaf.dtype, device=leaf.device)
    return wide[..., ::2].copy_(leaf)


def _redrawn(leaf: Any, kind: str, generator: torch.Generator) -> Any:
    if not redrawable(leaf):
        return leaf
    return torch.empty_like(leaf).copy_(DRAW[kind](leaf.shape, generator))


def _normal(shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    return torch.randn(shape, generator=generator, device=generator.device)


def _heavy(shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    """A few values thirty times as large, in random places, in the last block, and at the very end."""
    drawn = _normal(shape, generator)
    flat = drawn.view(-1)
    for start in range(0, flat.numel(), 1 << 26):
        part = flat[start : start + (1 << 26)]
        part[torch.rand(part.shape, generator=generator, device=generator.device) < OUTLIERS] *= OUTLIER_SCALE
    last = flat[-min(TAIL * TAIL, flat.numel()) :]  # where a kernel that drops the tail loses most
    places = torch.randint(
        0, last.numel(), (1 + last.numel() // (TAIL * TAIL) * 2,), generator=generator, device=generator.device
    )
    last[places] = OUTLIER_SCALE
    last[-1:] = OUTLIER_SCALE
    return drawn


def _integers(shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    return torch.randint(-3, 4, shape, generator=generator, device=generator.device).float()


def _rows(shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    """Slices along the first dimension that differ in size by up to 2^24: what a scale for the whole tensor loses."""
    drawn = _normal(shape, generator)
    if not shape:
        return drawn
    count = shape[0]
    exponents = torch.randint(LEAST_EXPONENT, 1, (count,), generator=generator, device=generator.device)
    exponents[torch.randint(0, count, (1,), generator=generator, device=generator.device)] = 0
    return drawn * torch.exp2(exponents.float()).reshape(-1, *[1] * (len(shape) - 1))


def _uniform(shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    return torch.rand(shape, generator=generator, device=generator.device)


def _ones(shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    return torch.ones(shape, device=generator.device)


def _arange(shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    return torch.arange(shape.numel(), device=generator.device).reshape(shape).remainder(1021).float()


DRAW: dict[str, Callable[[torch.Size, torch.Generator], torch.Tensor]] = {
    "normal": _normal,
    "uniform": _uniform,
    "heavy": _heavy,
    "integers": _integers,
    "large": lambda shape, generator: LARGE * _normal(shape, generator),
    "rows": _rows,
    "ones": _ones,
    "arange": _arange,
}
