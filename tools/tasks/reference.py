"""For the trusted child: what the reference gives under the policy, and what exact arithmetic would."""

from contextlib import nullcontext
from copy import deepcopy
from types import ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_map

from egg.state.settings import Policy
from egg.tools.tasks.cases import case_inputs
from egg.tools.tasks.module import build_model, load_module, set_policy, set_seed
from egg.tools.tasks.tf32 import RoundProducts


class Reference:
    """The problem's own model with the weights of one seed."""

    def __init__(self, source: str, policy: str, seed: int, device: str) -> None:
        set_policy(policy)
        self.policy, self.device = policy, device
        self.module: ModuleType = load_module(source, "problem")
        self.model = build_model(self.module.Model, self.module, seed, device)

    def output(self, case: dict[str, Any]) -> tuple[Any, list[int]]:
        """What it returns for a case, and which of its inputs it changes itself."""
        set_policy(self.policy)
        inputs = case_inputs(self.module, case, self.device)
        before = tree_map(_clone, inputs)
        in_tf32 = self.policy == Policy.TF32 and self.device == "cpu"
        with RoundProducts() if in_tf32 else nullcontext():  # type: ignore[no-untyped-call]
            output = self._forward(inputs, case, None)
        changed = [
            n
            for n, (old, new) in enumerate(zip(_tensors(before), _tensors(inputs), strict=True))
            if not torch.equal(torch.nan_to_num(old), torch.nan_to_num(new))
        ]
        return output, changed

    def oracle(self, case: dict[str, Any]) -> Any:
        """The same in float64; in float32, or as it is, if the module cannot be run so."""
        set_policy(Policy.IEEE)
        try:
            for dtype in (torch.float64, torch.float32):
                try:
                    return self._forward(case_inputs(self.module, case, self.device), case, dtype)
                except (RuntimeError, TypeError, NotImplementedError):
                    continue
            return self._forward(case_inputs(self.module, case, self.device), case, None)
        finally:
            set_policy(self.policy)

    def _forward(self, inputs: list[Any], case: dict[str, Any], dtype: torch.dtype | None) -> Any:
        model = deepcopy(self.model)  # it may change its buffers, and is about to be changed in type
        set_seed(case["seed"], self.device)
        with torch.no_grad():
            if dtype is None:
                return model(*inputs)
            usual = torch.get_default_dtype()
            torch.set_default_dtype(dtype)
            try:
                return model.to(dtype)(*tree_map(lambda value: _as(value, dtype), inputs))
            finally:
                torch.set_default_dtype(usual)


def _as(value: Any, dtype: torch.dtype) -> Any:
    return value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _clone(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


def _tensors(values: Any) -> list[torch.Tensor]:
    return [leaf for leaf in torch.utils._pytree.tree_leaves(values) if isinstance(leaf, torch.Tensor)]
