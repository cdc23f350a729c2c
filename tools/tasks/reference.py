"""For the trusted child: what the reference gives under the policy, and what exact arithmetic would."""

from collections.abc import Sequence
from contextlib import nullcontext
from copy import deepcopy
from types import ModuleType
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_map

from egg.state.settings import Policy
from egg.tools.tasks.cases import Case, case_inputs, redrawable
from egg.tools.tasks.faults import out_of_memory
from egg.tools.tasks.memory import digests, tensors_of
from egg.tools.tasks.module import build_model, load_module, set_policy, set_seed
from egg.tools.tasks.raw import Entry, forms
from egg.tools.tasks.slices import by_slices
from egg.tools.tasks.tf32 import RoundProducts
from egg.tools.tasks.weights import Weights

ROUNDING = 2.0**-24
"""Half a unit in the last place of float32."""
KEPT_BYTES = 1 << 30
"""Of the last output, to see whether the next one lies in the same place."""
MOVED_ELEMENTS = 1 << 27
"""Elements of inputs and outputs beyond which the oracle is not asked a second time."""


class Usual(NamedTuple):
    """What the reference does under the policy."""

    output: Any
    forms: list[Entry]
    changed: list[int]
    """Numbers of the inputs that it changes itself."""
    inputs: dict[int, torch.Tensor]
    """What it makes of these."""
    buffers: dict[str, torch.Tensor]
    """Those that it updates."""
    drew: bool
    """Whether it took anything from a random generator."""


class Exact(NamedTuple):
    """What exact arithmetic would give, by way of `by`: float64, float64 in slices, float32, its own type."""

    output: Any
    buffers: dict[str, torch.Tensor]
    inputs: dict[int, torch.Tensor]
    by: str


class Reference:
    """The problem's own model with the weights of one seed."""

    def __init__(self, source: str, policy: str, seed: int, device: str) -> None:
        set_policy(policy)
        self.policy, self.device = policy, device
        self.module: ModuleType = load_module(source, "problem")
        self.model = build_model(self.module.Model, self.module, seed, device)
        self.weights = Weights(self.model)
        self.kept: Any = ()

    def usual(self, case: Case) -> Usual:
        """What it returns for a case, and what else it does."""
        set_policy(self.policy)
        self.weights.put(case["weights"], case["seed"])
        inputs = case_inputs(self.module, case, self.device)
        before = digests(inputs)
        set_seed(case["draw"], self.device)
        state = self._generator()
        in_tf32 = self.policy == Policy.TF32 and self.device == "cpu"
        with torch.no_grad(), RoundProducts() if in_tf32 else nullcontext():  # type: ignore[no-untyped-call]
            output = self.model(*inputs)
        drew = not torch.equal(state, self._generator())
        changed = [n for n, (old, new) in enumerate(zip(before, digests(inputs), strict=True)) if old != new]
        buffers = {name: buffer.clone() for name, buffer in self.weights.updated().items()}
        entries = [entry for entry, _ in forms(output, inputs, self.kept)]
        if sum(tensor.nbytes for tensor in tensors_of(output)) <= KEPT_BYTES:
            self.kept = output
        after = tensors_of(inputs)
        return Usual(output, entries, changed, {n: after[n] for n in changed}, buffers, drew)

    def exact(self, case: Case, usual: Any, changed: Sequence[int] = ()) -> Exact:
        """The same in float64; by slices of the batch where that does not fit; in float32, or as it is, if need be.

        `changed`: numbers of the inputs whose contents afterwards are wanted too.
        """
        set_policy(Policy.IEEE)
        try:
            for dtype in (torch.float64, torch.float32):
                try:
                    return self._wide(case, dtype, changed)
                except (RuntimeError, TypeError, NotImplementedError) as error:
                    if not out_of_memory(error):
                        continue
                self.free()
                if dtype is torch.float64 and (sliced := self._sliced(case, usual)) is not None:
                    return Exact(sliced, {}, {}, "float64 in slices")
            return self._wide(case, None, changed)
        finally:
            set_policy(self.policy)

    def moved(self, case: Case, exact: Exact) -> Any:
        """Exact values for inputs rounded otherwise, or None where that is not to be had."""
        size = sum(tensor.numel() for tensor in tensors_of([exact.output]))
        if exact.by != "float64" or size > MOVED_ELEMENTS:
            return None
        inputs = case_inputs(self.module, case, self.device)
        if any(tensor.dtype == torch.float64 for tensor in tensors_of(inputs)):
            return None
        if sum(tensor.numel() for tensor in tensors_of(inputs)) > MOVED_ELEMENTS:
            return None
        generator = torch.Generator(self.device).manual_seed(case["seed"] + 2)
        return self.wide(tree_map(lambda value: _nudged(value, generator), inputs), case["draw"])

    def wide(self, inputs: list[Any], draw: int, dtype: torch.dtype = torch.float64, *, sizes: bool = False) -> Any:
        """The output for other inputs in `dtype`; `sizes`: with the absolute values of all weights."""
        model = deepcopy(self.model).to(dtype)
        if sizes:
            for parameter in model.parameters():
                parameter.data.abs_()
        return self._run(model, inputs, draw, dtype)

    def free(self) -> None:
        """Give back what is not in use, for the candidate and for what comes next."""
        if self.device == "cuda":
            torch.cuda.empty_cache()

    def _wide(self, case: Case, dtype: torch.dtype | None, changed: Sequence[int]) -> Exact:
        self.weights.put(case["weights"], case["seed"])
        model = deepcopy(self.model)  # it is about to be changed in type
        weights = Weights(model.to(dtype) if dtype else model)
        inputs = case_inputs(self.module, case, self.device)
        if dtype is not None:
            inputs = tree_map(lambda value: _as(value, dtype), inputs)
        output, after = self._run(model, inputs, case["draw"], dtype), tensors_of(inputs)
        kept = {n: after[n] for n in changed}
        return Exact(output, weights.updated(), kept, str(dtype).removeprefix("torch.") if dtype else "its own type")

    def _run(self, model: torch.nn.Module, inputs: list[Any], draw: int, dtype: torch.dtype | None) -> Any:
        usual = torch.get_default_dtype()
        set_seed(draw, self.device)
        torch.set_default_dtype(dtype or usual)
        try:
            with torch.no_grad():
                return model(*(inputs if dtype is None else tree_map(lambda value: _as(value, dtype), inputs)))
        finally:
            torch.set_default_dtype(usual)

    def _sliced(self, case: Case, usual: Any) -> Any:
        self.weights.put(case["weights"], case["seed"])
        inputs = case_inputs(self.module, case, self.device)
        try:
            narrow = lambda part: self._run(self.model, part, case["draw"], None)  # noqa: E731
            wide = deepcopy(self.model).to(torch.float64)
            return by_slices(narrow, lambda part: self._run(wide, part, case["draw"], torch.float64), inputs, usual)
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            self.free()
            return None

    def _generator(self) -> torch.Tensor:
        return torch.cuda.get_rng_state() if self.device == "cuda" else torch.get_rng_state()


def _nudged(value: Any, generator: torch.Generator) -> Any:
    """Every number moved by half a unit in its last place, up or down."""
    if not redrawable(value):
        return value
    up = torch.randint(0, 2, value.shape, generator=generator, device=value.device).double() * 2 - 1
    return value.double() * (1 + ROUNDING * up)


def _as(value: Any, dtype: torch.dtype) -> Any:
    return value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value
