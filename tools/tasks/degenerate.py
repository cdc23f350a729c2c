"""For the analysis: signs that a problem is a poor test, found by running it; and what can be said of one that cannot
be traced."""

from collections.abc import Callable, Iterator

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from egg.state.problem import AT_STOCK, Region, TensorSpec, Workload
from egg.tools.expert.spec import TORCH
from egg.tools.tasks.memory import tensors_of
from egg.tools.tasks.module import build_model, load_module, make_inputs, set_seed
from egg.tools.tasks.thin import thin

STOCK, OURS = 1e-4, 1e-5
"""Tolerance of KernelBench's check, absolute and relative; and of ours, relative to the output's RMS."""

Tensors = list[torch.Tensor]
Close = Callable[[torch.Tensor, torch.Tensor], bool]


def signs(source: str, small_source: str) -> tuple[str, ...]:
    """Why the problem is a poor test. It is run with its own sizes and a batch of few, or else as the small problem.

    What only KernelBench's absolute tolerance lets pass begins with `AT_STOCK`.
    """
    text = thin(source) or small_source
    if not text:
        return ()
    module = load_module(text, "degenerate")
    with torch.no_grad():
        given = [make_inputs(module, seed, "cpu") for seed in (1, 2)]
        model = build_model(module.Model, module, 0, "cpu")
        first, other = (_run(model, inputs, 1) for inputs in given)
        drew = torch.get_rng_state()
        set_seed(1, "cpu")
        # Only a forward pass that takes something from the generator can depend on it.
        random = not torch.equal(drew, torch.get_rng_state()) and not all(map(_same, first, _run(model, given[0], 2)))
    found = list(_exact(tensors_of(given[0]), first, other))
    if random:
        found.append("the output is random: the reference disagrees with itself under other random numbers")
    found += [f"{AT_STOCK}{what}" for what in _at_stock(tensors_of(given[0]), first, other) if what not in found]
    return tuple(found)


def _exact(inputs: Tensors, outputs: Tensors, others: Tensors) -> Iterator[str]:
    """What passes under our own budget."""
    if any(tensor.numel() and not tensor.isfinite().any() for tensor in outputs):
        yield "the output holds no finite number"
        return
    yield from _passes(inputs, outputs, others, _ours)


def _at_stock(inputs: Tensors, outputs: Tensors, others: Tensors) -> Iterator[str]:
    yield from _passes(inputs, outputs, others, _stock)


def _passes(inputs: Tensors, outputs: Tensors, others: Tensors, close: Close) -> Iterator[str]:
    if all(close(right, torch.zeros_like(right)) for right in outputs):
        yield "zeros pass for the output"
    if all(map(close, outputs, others)):
        yield "the output does not depend on the inputs"
    if any(right.numel() > 1 for right in outputs) and all(close(right, _middle(right)) for right in outputs):
        yield "every element of the output is the same"
    elif len(outputs) == 1 and (axes := [dim for dim in range(outputs[0].dim()) if _constant(outputs[0], dim, close)]):
        yield f"the output is constant along dimension {', '.join(map(str, axes))}"
    if len(outputs) == 1 and any(_alike(outputs[0], given) and close(outputs[0], given) for given in inputs):
        yield "the input passes for the output"


def _constant(right: torch.Tensor, dim: int, close: Close) -> bool:
    return right.shape[dim] > 1 and close(right, right.narrow(dim, 0, 1).expand_as(right))


def _middle(right: torch.Tensor) -> torch.Tensor:
    """The constant that comes closest everywhere."""
    if not right.numel():
        return right
    middle = (right.double().amax() + right.double().amin()) / 2
    return torch.full_like(right, middle.item())


def _stock(right: torch.Tensor, guess: torch.Tensor) -> bool:
    if not right.is_floating_point():
        return torch.equal(right, guess)
    return torch.allclose(right, guess, rtol=STOCK, atol=STOCK)


def _ours(right: torch.Tensor, guess: torch.Tensor) -> bool:
    if not right.is_floating_point():
        return torch.equal(right, guess)
    finite = right.isfinite() & guess.isfinite()
    off, size = (torch.where(finite, value, 0.0).double().norm() for value in (right - guess, right))
    return bool((finite | (right == guess) | (right.isnan() & guess.isnan())).all()) and bool(off <= OURS * size)


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return (
        torch.equal(torch.nan_to_num(one), torch.nan_to_num(other))
        if one.is_floating_point()
        else torch.equal(one, other)
    )


def _alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype


def _run(model: torch.nn.Module, inputs: list[object], draw: int) -> Tensors:
    set_seed(draw, "cpu")
    return [tensor.detach().clone() for tensor in tensors_of(model(*inputs))]


def untraced(source: str, small_source: str | None, why: str) -> Workload:
    """Inputs and outputs only; the arithmetic is not known and counts as none."""
    module = load_module(source, "untraced")
    try:
        with torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True):
            model = build_model(module.Model, module, 0, "cpu")
            given = make_inputs(module, 0, "cpu")
            made = model(*given)
            inputs, outputs = tensors_of(given), tensors_of(made)
            state = [*model.parameters(), *model.buffers()]
    except Exception:  # its control flow depends on data: run it
        with torch.no_grad():
            model = build_model(module.Model, module, 0, "cpu")
            given = make_inputs(module, 0, "cpu")
            made = model(*given)
        inputs, outputs, state = tensors_of(given), tensors_of(made), [*model.parameters(), *model.buffers()]
    return Workload(
        inputs=tuple(_spec(tensor) for tensor in inputs),
        outputs=tuple(_spec(tensor) for tensor in outputs),
        parameters=sum(tensor.numel() for tensor in state),
        flops=0,
        matmul_flops=0,
        min_bytes=sum(tensor.numel() * tensor.element_size() for tensor in (*inputs, *state, *outputs)),
        regions=(Region(name="t0_module", kind=TORCH, ops=("module",), note=why),),
        structures=(),
        degenerate=signs(source, small_source or ""),
    )


def _spec(tensor: torch.Tensor) -> TensorSpec:
    return TensorSpec(shape=tuple(tensor.shape), dtype=str(tensor.dtype).removeprefix("torch."))
