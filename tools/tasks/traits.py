"""For the trusted child: what a problem is, found out by asking its reference. Decides what may be demanded."""

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map

from egg.tools.tasks.cases import Case, case_inputs, redrawable
from egg.tools.tasks.memory import tensors_of
from egg.tools.tasks.reference import Exact, Reference

LARGEST_INTEGER = {torch.float64: 53, torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}
"""Bits of the integers that a type holds exactly."""
MOST_ELEMENTS = 1 << 28
"""Inputs and outputs beyond which a problem is not asked."""
SHRINK = 2.0**-12
DEGREES = (1, 2, 3)


def sums_exactly(reference: Reference, case: Case, usual: Any, exact: Exact) -> bool:
    """Whether for the integers of this case every sum in whatever order is exact, so that no bit may be wrong.

    It must be linear in each of its inputs (or affine), computed exactly by the reference too, and remain exactly
    representable when all inputs and weights are taken by size, which bounds all partial sums.
    """
    outputs = tensors_of([exact.output])
    inputs = case_inputs(reference.module, case, reference.device)
    if exact.by != "float64" or not _few(inputs, outputs) or not outputs:
        return False
    for own, right in zip(tensors_of([usual]), outputs, strict=True):
        if not own.is_floating_point() or not torch.equal(own.double(), right):
            return False
    narrowest = min(LARGEST_INTEGER.get(tensor.dtype, 0) for tensor in tensors_of([usual]))
    sizes = reference.wide(tree_map(lambda v: v.abs() if redrawable(v) else v, inputs), case["draw"], sizes=True)
    if any(float(tensor.abs().max()) >= 2.0**narrowest for tensor in tensors_of([sizes])):
        return False
    other = case_inputs(reference.module, {**case, "seed": case["seed"] + 7}, reference.device)
    numbers = [n for n, value in enumerate(inputs) if redrawable(value)]

    def run(number: int, change: Callable[[Any, Any], Any]) -> list[torch.Tensor]:
        changed = [change(v, other[n]) if n == number else v for n, v in enumerate(inputs)]
        return tensors_of([reference.wide(changed, case["draw"])])

    for number in numbers:
        both, second = run(number, torch.add), run(number, lambda old, new: new)
        nothing = run(number, lambda old, new: torch.zeros_like(old))
        if not all(torch.equal(b + n, f + s) for b, n, f, s in zip(both, nothing, outputs, second, strict=True)):
            return False
    return bool(numbers)


def scales_with_inputs(reference: Reference, case: Case) -> bool:
    """Whether all outputs become 2^-12d times as large, exactly, if all inputs become 2^-12 times as large.

    Then small slices of the inputs make small slices of the output, and have a right to the same relative accuracy.
    """
    inputs = case_inputs(reference.module, case, reference.device)
    if not _few(inputs) or not any(redrawable(value) for value in inputs):
        return False
    reference.weights.put(case["weights"], case["seed"])
    try:
        large = tensors_of([reference.wide(inputs, case["draw"])])
        small = tensors_of([reference.wide(_scaled(inputs), case["draw"])])
    except (RuntimeError, TypeError, NotImplementedError):
        return False
    pairs = [(one, other) for one, other in zip(large, small, strict=True) if one.is_floating_point()]
    return bool(pairs) and any(
        all(torch.equal(one * SHRINK**degree, other) and bool(one.any()) for one, other in pairs) for degree in DEGREES
    )


def is_random(reference: Reference, case: Case) -> bool:
    """Whether the reference disagrees with itself under another state of the generators, and agrees under the same."""
    outputs = [tensors_of([reference.usual({**case, "draw": draw}).output]) for draw in (1, 1, 2)]
    same = [all(map(torch.equal, outputs[0], other)) for other in outputs[1:]]
    return same == [True, False]


def _scaled(inputs: list[Any]) -> Any:
    return tree_map(lambda value: value.double() * SHRINK if redrawable(value) else value, inputs)


def _few(*values: Any) -> bool:
    return sum(tensor.numel() for tensor in tensors_of(list(values))) <= MOST_ELEMENTS
