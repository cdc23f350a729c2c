"""For the analysis: signs that a problem is a poor test, and what can be said of one that cannot be traced."""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_leaves

from egg.state.problem import Region, TensorSpec, Workload
from egg.tools.expert.spec import TORCH
from egg.tools.tasks.module import build_model, load_module, make_inputs


def signs(small_source: str) -> tuple[str, ...]:
    """What two runs of the small problem give away; nothing where there is no small problem."""
    if not small_source:
        return ()
    module = load_module(small_source, "degenerate")
    with torch.no_grad():
        torch.manual_seed(0)
        model = build_model(module.Model, module, 0, "cpu")
        runs = [_floats(model(*make_inputs(module, seed, "cpu"))) for seed in (1, 2)]
    found: list[str] = []
    outputs = list(zip(*runs, strict=False))
    if outputs and all(torch.equal(one, other) for one, other in outputs):
        found.append("the output does not depend on the inputs")
    if outputs and all(one.numel() > 1 and torch.all(one == one.flatten()[0]) for one, _ in outputs):
        found.append("every element of the output is the same")
    if any(not torch.isfinite(one).any() for one, _ in outputs if one.numel()):
        found.append("the output holds no finite number")
    return tuple(found)


def untraced(source: str, small_source: str | None, why: str) -> Workload:
    """Inputs and outputs only; the arithmetic is not known and counts as none."""
    module = load_module(source, "untraced")
    try:
        with torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True):
            model = build_model(module.Model, module, 0, "cpu")
            given = make_inputs(module, 0, "cpu")
            made = model(*given)
            inputs, outputs = _tensors(given), _tensors(made)
            state = [*model.parameters(), *model.buffers()]
    except Exception:  # its control flow depends on data: run it
        with torch.no_grad():
            model = build_model(module.Model, module, 0, "cpu")
            given = make_inputs(module, 0, "cpu")
            made = model(*given)
        inputs, outputs, state = _tensors(given), _tensors(made), [*model.parameters(), *model.buffers()]
    return Workload(
        inputs=tuple(_spec(tensor) for tensor in inputs),
        outputs=tuple(_spec(tensor) for tensor in outputs),
        parameters=sum(tensor.numel() for tensor in state),
        flops=0,
        matmul_flops=0,
        min_bytes=sum(tensor.numel() * tensor.element_size() for tensor in (*inputs, *state, *outputs)),
        regions=(Region(name="t0_module", kind=TORCH, ops=("module",), note=why),),
        structures=(),
        degenerate=signs(small_source or ""),
    )


def _tensors(value: object) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _floats(value: object) -> list[torch.Tensor]:
    return [tensor.detach().clone() for tensor in _tensors(value)]


def _spec(tensor: torch.Tensor) -> TensorSpec:
    return TensorSpec(shape=tuple(tensor.shape), dtype=str(tensor.dtype).removeprefix("torch."))
