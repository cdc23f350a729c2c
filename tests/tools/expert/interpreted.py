"""Child task for tests: a written kernel against its problem, both run on the CPU, the kernel in the interpreter."""

from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from egg.tools.tasks.module import build_model, load_module, make_inputs


def compare(payload: dict[str, Any]) -> dict[str, Any]:
    """`error`: the largest relative RMS difference of any result; raises where shape, type or nesting differ."""
    problem = load_module(payload["problem"], "tested_problem")
    kernel = load_module(payload["kernel"], "tested_kernel")
    with torch.no_grad():
        reference = build_model(problem.Model, problem, 0, "cpu")
        candidate = build_model(kernel.ModelNew, problem, 0, "cpu")
        torch.manual_seed(3)
        expected = reference(*make_inputs(problem, 1, "cpu"))
        torch.manual_seed(3)
        found = candidate(*make_inputs(problem, 1, "cpu"))
    assert list(reference.state_dict()) == list(candidate.state_dict())
    (wanted, one), (got, other) = tree_flatten(expected), tree_flatten(found)
    assert one == other, f"{one} is not {other}"
    return {"error": max(_difference(a, b) for a, b in zip(wanted, got, strict=True))}


def _difference(wanted: torch.Tensor, got: torch.Tensor) -> float:
    assert (wanted.shape, wanted.dtype) == (got.shape, got.dtype), f"{got.shape} {got.dtype}"
    if not wanted.is_floating_point():
        return 0.0 if torch.equal(wanted, got) else 1.0
    assert torch.equal(wanted.isnan(), got.isnan()), "NaN in other places"
    finite = wanted.isfinite()
    assert torch.equal(wanted[~finite & ~wanted.isnan()], got[~finite & ~wanted.isnan()]), "other infinities"
    scale = wanted[finite].double().pow(2).mean().sqrt().item() if finite.any() else 0.0
    error = (wanted[finite].double() - got[finite].double()).pow(2).mean().sqrt().item() if finite.any() else 0.0
    return error / scale if scale else error
