"""For the reference's own timer, trusted: were the outputs of a candidate's timed calls right for their very inputs?"""

from contextlib import suppress
from copy import deepcopy
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from egg.state.settings import Policy
from egg.tools.tasks.budget import Errors, judge_values
from egg.tools.tasks.inputs import inputs_of_call
from egg.tools.tasks.module import build_model, load_module, make_inputs, set_policy, set_seed
from egg.tools.tasks.raw import leaves, read

MEANINGFUL = 0.5
"""Share of finite exact values below which an output says nothing."""
GROSS = 10.0
"""Times the budget: no rounding is that far off, so the call's work was not done."""

Outputs = list[tuple[str, torch.Tensor]]


def compare_timed(payload: dict[str, Any], device: str) -> dict[str, Any]:
    """Compare what a candidate left of some timed calls with what the reference gives for their inputs.

    Args:
        payload: `problem`, `policy`, `folder` of the files, the candidate's `seed` and number of `sets`, and `calls`:
            a `turn` and entries of `raw.dump` each, which may be forged.
        device: where both run.

    Returns:
        `checked`; `telling`: of the checked, how many could have been told from an earlier output; `note`: why none
        could; `wrong`: text of the first one that is wrong, or None; `gross`: whether that is beyond any rounding.
    """
    checker = Checker(payload, device)
    answer: dict[str, Any] = {"checked": 0, "telling": 0, "note": "", "wrong": None, "gross": False}
    for call in payload["calls"]:
        inputs = checker.inputs(call["turn"])
        usual = checker.reference(inputs)
        if not answer["checked"] and (note := checker.unsuitable(call["turn"])):
            return answer | {"note": note}
        exact = checker.oracle(inputs)
        wrong, gross = _wrong(call["outputs"], Path(payload["folder"]), usual, exact, device)
        if wrong:
            return answer | {"wrong": wrong, "gross": gross}
        answer["checked"] += 1
        answer["telling"] += not _all_within(checker.earlier(call["turn"]), usual, exact)
    return answer


class Checker:
    """The problem's own model with the candidate's weights."""

    def __init__(self, payload: dict[str, Any], device: str) -> None:
        self.seed, self.sets, self.device, self.policy = payload["seed"], payload["sets"], device, payload["policy"]
        self.module: ModuleType = load_module(payload["problem"], "problem")
        self.model = build_model(self.module.Model, self.module, self.seed, device)

    def inputs(self, turn: int) -> list[Any]:
        """What the call of this number was given."""
        return inputs_of_call(self.module, self.seed, self.sets, turn, self.device)

    def reference(self, inputs: list[Any]) -> Outputs:
        """What the reference gives under the policy."""
        return self._run(deepcopy(self.model), tree_map(_clone, inputs))

    def earlier(self, turn: int) -> Outputs:
        """What it gives for the same set before anything in it was changed."""
        return self.reference(make_inputs(self.module, self.seed + turn % self.sets, self.device))

    def oracle(self, inputs: list[Any]) -> Outputs:
        """The same in float64; in float32, or as it is, if the module cannot be run so."""
        set_policy(Policy.IEEE)
        usual = torch.get_default_dtype()
        try:
            for dtype in (torch.float64, torch.float32):
                with suppress(RuntimeError, TypeError, NotImplementedError):
                    torch.set_default_dtype(dtype)
                    return self._run(deepcopy(self.model).to(dtype), tree_map(partial(_as, dtype=dtype), inputs))
            torch.set_default_dtype(usual)
            return self.reference(inputs)
        finally:
            torch.set_default_dtype(usual)
            set_policy(self.policy)

    def unsuitable(self, turn: int) -> str:
        """Why the reference's outputs cannot tell whether a timed call was right, if they cannot."""
        model, inputs = deepcopy(self.model), self.inputs(turn)
        before = tree_map(_clone, inputs)
        first = self._run(model, inputs)
        if any(not _equal(a, b) for a, b in zip(tree_leaves(before), tree_leaves(inputs), strict=True)):
            return "the reference changes its inputs, so a timed call's are not known"
        again = self._run(model, inputs, shift=1)
        if not _all_within(again, first, first):
            return "the reference is random, or remembers earlier calls, so a timed call's output is not known"
        return ""

    def _run(self, model: torch.nn.Module, inputs: list[Any], shift: int = 0) -> Outputs:
        set_seed(self.seed + shift, self.device)
        with torch.no_grad():
            output = model(*inputs)
        return [(place, value if isinstance(value, torch.Tensor) else torch.tensor(value)) for place, value in
                leaves(output) if value is not None]  # fmt: skip


def _wrong(
    entries: list[dict[str, Any]], folder: Path, usual: Outputs, exact: Outputs, device: str
) -> tuple[str, bool]:
    """What is wrong with one call's outputs, and whether grossly; empty if nothing is."""
    entries = [entry for entry in entries if entry.get("kind") != "none"]
    if [str(entry["place"]) for entry in entries] != [place for place, _ in usual]:
        return "it returns something else than when it was checked", True
    for entry, (place, right), (_, oracle) in zip(entries, usual, exact, strict=True):
        form = (list(entry["shape"]), str(entry["dtype"]))
        if form != (list(right.shape), str(right.dtype).removeprefix("torch.")) or entry["odd"]:
            return f"{place} has another form than when it was checked", True
        found = read(entry, folder, device)
        if found is None:
            return f"{place} was announced and is not there", True
        errors = judge_values(found, right.to(device), oracle.to(device))
        if errors.judged >= MEANINGFUL and not errors.within:
            return f"{place}: {_far(errors)}", errors.error > GROSS * errors.budget
    return "", False


def _far(errors: Errors) -> str:
    wrong = f"{int(errors.bad.sum())} of {errors.bad.numel()} elements wrong by themselves"
    return f"error {errors.error:.2e} against a budget of {errors.budget:.2e}, {wrong}"


def _all_within(found: Outputs, usual: Outputs, exact: Outputs) -> bool:
    judged: list[Errors] = [
        judge_values(value, right, oracle)
        for (_, value), (_, right), (_, oracle) in zip(found, usual, exact, strict=True)
    ]
    return all(errors.within for errors in judged if errors.judged >= MEANINGFUL)


def _equal(one: Any, other: Any) -> bool:
    return not isinstance(one, torch.Tensor) or torch.equal(torch.nan_to_num(one), torch.nan_to_num(other))


def _clone(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


def _as(value: Any, dtype: torch.dtype) -> Any:
    return value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value
