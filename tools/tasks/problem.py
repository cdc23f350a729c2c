"""Child task: is this a problem, and at which small sizes does its reference still run?"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from egg.state.errors import UserError
from egg.tools.shrink import LARGEST_ELEMENTS, Constants, constants, plans, rewrite
from egg.tools.tasks.module import build_model, load_module, make_inputs

OWN_SMALL = "\n\nget_inputs = get_small_inputs\n"
OWN_SMALL_INIT = "get_init_inputs = get_small_init_inputs\n"
RUNS_AS_IT_IS = 1 << 20
"""Elements up to which the interpreter takes a problem that has no constants to shrink."""


class Largest(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Remembers the most elements of any tensor made under it."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.elements: int = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        self.elements = max([self.elements, *(t.numel() for t in tree_leaves(out) if isinstance(t, torch.Tensor))])
        return out


if torch.version.cuda is None:  # fake tensors ask for the GPU, which would not survive the fork
    # The first fake operator loads a second's worth of PyTorch: here, once for all children.
    with FakeTensorMode():
        torch.nn.functional.linear(torch.randn(2, 2), torch.ones(2, 2)).softmax(-1)


def examine(payload: dict[str, Any]) -> dict[str, Any]:
    """`small_source` (or null) and `small_constants` of `source`.

    Raises:
        UserError: the source is no problem; one line says why.
    """
    source, name = payload["source"], payload["name"]
    module = _load(source, name)
    largest = _try_full(module, name)
    if hasattr(module, "get_small_inputs"):
        small = source + OWN_SMALL + (OWN_SMALL_INIT if hasattr(module, "get_small_init_inputs") else "")
        _runs(_load(small, f"{name}_small"), f"{name} with its own small inputs")
        return {"small_source": small, "small_constants": {}}
    if largest <= LARGEST_ELEMENTS:
        return {"small_source": source if _works(source) else None, "small_constants": {}}
    found = _shrink(source, largest)
    if found is not None:
        return {"small_source": rewrite(source, found), "small_constants": found}
    return {"small_source": source if largest <= RUNS_AS_IT_IS and _works(source) else None, "small_constants": {}}


def _load(source: str, name: str) -> ModuleType:
    try:
        module = load_module(source, f"problem_{name}")
    except (Exception, SystemExit) as error:
        raise UserError(f"{name}: the file fails when it is loaded: {_line(error)}") from error
    for needed, kind in (("Model", "a class"), ("get_inputs", "a function")):
        if not callable(getattr(module, needed, None)):
            raise UserError(f"{name}: no `{needed}`; a problem file must define {kind} of that name")
    if not (isinstance(module.Model, type) and issubclass(module.Model, torch.nn.Module)):
        raise UserError(f"{name}: `Model` must be a class derived from torch.nn.Module")
    return module


def _try_full(module: ModuleType, name: str) -> int:
    """Elements of the largest tensor at full size; memory is only pretended."""
    try:
        with FakeTensorMode(), Largest() as seen:
            _runs(module, name)
        return int(seen.elements)
    except UserError as error:
        # What does not work on tensors without contents (numpy, .item()) may still work on real ones.
        if not isinstance(error.__cause__, DataDependentOutputException | RuntimeError | TypeError | AssertionError):
            raise
    with Largest() as seen:
        _runs(module, name)
    return int(seen.elements)


def _works(source: str) -> bool:
    """Whether it runs on the CPU, as it must where there is no GPU."""
    try:
        _runs(load_module(source, "on_cpu"), "on_cpu")
    except UserError:
        return False
    return True


def _runs(module: ModuleType, name: str) -> None:
    inputs = _step(f"{name}: get_inputs fails", lambda: make_inputs(module, 0, "cpu"))
    if not any(isinstance(value, torch.Tensor) for value in tree_leaves(inputs)):
        raise UserError(f"{name}: get_inputs returns no tensor; it must return a list with at least one")
    model = _step(f"{name}: Model cannot be built", lambda: build_model(module.Model, module, 0, "cpu"))
    with torch.no_grad():
        outputs = _step(f"{name}: the reference fails", lambda: model(*inputs))
    tensors = [value for value in tree_leaves(outputs) if isinstance(value, torch.Tensor)]
    if not tensors:
        raise UserError(f"{name}: the reference returns no tensor; there is nothing to compare")
    if any(tensor.layout is not torch.strided for tensor in tensors):
        raise UserError(f"{name}: the reference returns a sparse tensor; return it dense, so that it can be compared")
    if any(tensor.numel() == 0 for tensor in tensors):
        raise UserError(f"{name}: the reference returns an empty tensor; there is nothing to compare")


def _step(what: str, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except (Exception, SystemExit) as error:
        raise UserError(f"{what}: {_line(error)}") from error


def _shrink(source: str, largest: int) -> Constants | None:
    """The first plan under which the reference really runs and fits."""
    for number, plan in enumerate(plans(constants(source), largest)):
        try:
            module = load_module(rewrite(source, plan), f"shrunk_{number}")
            with FakeTensorMode(), Largest() as seen:
                _runs(module, "small")
            if seen.elements <= LARGEST_ELEMENTS:
                _runs(module, "small")
                return plan
        except (UserError, MemoryError):
            continue
    return None


def _line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}"[:300] if text else type(error).__name__
