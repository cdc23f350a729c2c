"""For the reference's own timer, trusted: were the outputs of a candidate's timed calls right for their very inputs?"""

from pathlib import Path
from typing import Any

import torch

from egg.tools.tasks.budget import Errors, judge_values
from egg.tools.tasks.cases import Case, case_inputs
from egg.tools.tasks.faults import out_of_memory
from egg.tools.tasks.form import wrong_form
from egg.tools.tasks.raw import Entry, leaves, read
from egg.tools.tasks.reference import Reference, Usual

MEANINGFUL = 0.5
"""Share of finite exact values below which an output says nothing."""
GROSS = 4.0
"""Times the budget: no rounding is that far off where a check has passed, so the call's work was not done."""

Json = dict[str, Any]
Tensors = list[torch.Tensor]


def compare_timed(payload: Json, device: str) -> Json:
    """Compare what a candidate left of some timed calls with what the reference gives for their inputs.

    Args:
        payload: `problem`, `policy`, `folder` of the files, the candidate's `seed` and number of `sets`, and `calls`:
            a `turn` and entries of `raw.dump` each, which may be forged.
        device: where both run.

    Returns:
        `checked`; `telling`: of the checked, how many could have been told from an earlier output; `note`: why none
        or not all could; `wrong`: text of the first one that is wrong, or None; `gross`: whether that is beyond any
        rounding.
    """
    reference = Reference(payload["problem"], payload["policy"], payload["seed"], device)
    try:
        return _compared(reference, payload)
    finally:
        reference.free()  # this process may be kept for the next candidate


def _compared(reference: Reference, payload: Json) -> Json:
    answer: Json = {"checked": 0, "telling": 0, "note": "", "wrong": None, "gross": False}
    for call in payload["calls"]:
        case = _case(payload["seed"], payload["sets"], call["turn"])
        try:
            usual = reference.usual(case)
            if not answer["checked"] and (note := _unsuitable(reference, case, usual)):
                return answer | {"note": note}
            telling, wrong, gross = _looked_at(reference, case, usual, call["outputs"], Path(payload["folder"]))
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            return answer | {"note": "comparing more of them takes more memory than there is"}
        if wrong:
            return answer | {"wrong": wrong, "gross": gross}
        answer["checked"] += 1
        answer["telling"] += telling
        del usual
        reference.free()
    return answer


def _looked_at(
    reference: Reference, case: Case, usual: Usual, entries: list[Entry], folder: Path
) -> tuple[bool, str, bool]:
    """Whether an earlier output of the same set would have been found out; what is wrong; whether grossly."""
    if bad := wrong_form(entries, usual.forms):
        return False, bad.text, True
    found = [read(entry, folder, reference.device) for entry in entries if entry["kind"] != "none"]
    exact = reference.exact(case, usual.output)
    moved = reference.moved(case, exact)
    right = [_tensors(value, reference.device) for value in (usual.output, exact.output)]
    others = [None] * len(found) if moved is None else _tensors(moved, reference.device)
    judged: list[Errors] = []
    for value, own, oracle, other in zip(found, *right, others, strict=True):
        if value is None:
            return False, "an output was announced and is not there", True
        judged.append(judge_values(value, own, oracle, other))
        if judged[-1].judged >= MEANINGFUL and not judged[-1].within:
            return False, _far(judged[-1]), judged[-1].error > GROSS * judged[-1].budget
    earlier: Case = {**case, "kind": "own", "seed": case["seed"] + case["turn"] % case["sets"]}
    stale = _tensors(reference.usual(earlier).output, reference.device)
    return not _within(stale, *right), "", False


def _unsuitable(reference: Reference, case: Case, usual: Usual) -> str:
    """Why the reference's outputs cannot tell whether a timed call was right, if they cannot."""
    if usual.changed:
        return "the reference changes its inputs, so a timed call's are not known"
    if usual.drew:
        return "the reference is random, so a timed call's output is not known"
    with torch.no_grad():
        again = reference.model(*case_inputs(reference.module, case, reference.device))
    first, second = (_tensors(value, reference.device) for value in (usual.output, again))
    return "" if _within(second, first, first) else "the reference remembers earlier calls"


def _case(seed: int, sets: int, turn: int) -> Case:
    return {
        "kind": "timed", "seed": seed, "draw": seed, "weights": "own", "strided": False, "sets": sets, "turn": turn
    }  # fmt: skip


def _far(errors: Errors) -> str:
    wrong = f"{int(errors.bad.sum())} of {errors.bad.numel()} elements wrong by themselves"
    return f"error {errors.error:.2e} against a budget of {errors.budget:.2e}, {errors.excess or wrong}"


def _within(found: Tensors, usual: Tensors, exact: Tensors) -> bool:
    judged = [judge_values(*three) for three in zip(found, usual, exact, strict=True)]
    return all(errors.within for errors in judged if errors.judged >= MEANINGFUL)


def _tensors(value: Any, device: str) -> Tensors:
    return [torch.as_tensor(leaf, device=device) for _, leaf in leaves(value) if leaf is not None]
