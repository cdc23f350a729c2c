"""Child task, trusted: compare what a candidate left in files with the reference and with exact arithmetic."""

from pathlib import Path
from typing import Any

import torch

from egg.state.evaluation import Status
from egg.tools.tasks.budget import judge_values
from egg.tools.tasks.mismatch import describe
from egg.tools.tasks.raw import leaves, read
from egg.tools.tasks.reference import Reference

SHOWN = 8
MEANINGFUL = 0.5
"""Share of finite exact values below which a case says nothing, and is left out."""


def compare(payload: dict[str, Any]) -> dict[str, Any]:
    """The verdict on the values: `status`, `feedback`, and `accuracy`, one entry an output and case.

    Args:
        payload: `problem` (text), `policy`, `device`, `seed`, `cases`, `folder` of the files, and `answer`: what the
            candidate's child said of them, which may be forged.
    """
    reference = Reference(payload["problem"], payload["policy"], payload["seed"], payload["device"])
    judge = Judge(reference, Path(payload["folder"]), payload["cases"])
    answer = payload["answer"]
    entries = answer["cases"]
    if len(entries) != len(payload["cases"]):
        return _verdict(Status.CHEAT, "the answer is forged: it leaves cases out", [])
    for number, entry in enumerate(entries):
        if bad := judge.case(number, entry["outputs"], entry["mutated"]):
            return _verdict(*bad, judge.accuracy)
    if answer["again"] is not None and (bad := judge.again(answer["again"])):
        return _verdict(*bad, judge.accuracy)
    if not judge.accuracy:
        return _verdict(Status.OK, "no case has finite values to judge by; only shapes and types were checked", [])
    return _verdict(Status.OK, "", judge.accuracy)


def show(payload: dict[str, Any]) -> dict[str, Any]:
    """The verdict on the first case, and some values of each output beside the exact ones."""
    verdict = compare(payload)
    reference, folder = (
        Reference(payload["problem"], payload["policy"], payload["seed"], payload["device"]),
        Path(payload["folder"]),
    )
    exact = dict(leaves(reference.oracle(payload["cases"][0])))
    outputs = []
    for entry in payload["answer"]["cases"][0]["outputs"]:
        found, right = read(entry, folder, payload["device"]), exact.get(entry["place"])
        seen = {"place": entry["place"], "shape": entry["shape"], "dtype": entry["dtype"]}
        for name, tensor in (("candidate", found), ("expected", right)):
            if tensor is not None:
                seen[name] = {
                    "first": _some(tensor, 0),
                    "last": _some(tensor, -SHOWN),
                    "mean": float(tensor.double().mean()),
                }
        outputs.append(seen)
    return {"status": verdict["status"], "feedback": verdict["feedback"], "outputs": outputs}


def _some(tensor: torch.Tensor, start: int) -> list[float]:
    flat = tensor.reshape(-1)
    values = flat[start:] if start < 0 else flat[:SHOWN]
    return [float(f"{float(value):.6g}") for value in values]


Verdict = tuple[Status, str]


class Judge:
    """Goes through the cases in order and remembers what passed."""

    def __init__(self, reference: Reference, folder: Path, cases: list[dict[str, Any]]) -> None:
        self.reference, self.folder, self.cases = reference, folder, cases
        self.accuracy: list[dict[str, Any]] = []
        self.passed: list[list[torch.Tensor]] = []

    def case(self, number: int, entries: list[dict[str, Any]], mutated: list[int]) -> Verdict | None:
        """What is wrong with the outputs of one case, or None."""
        case = self.cases[number]
        name = f"case {case['kind']} ({number + 1} of {len(self.cases)})"
        output, changed = self.reference.output(case)
        expected = list(leaves(output))
        if bad := _form(entries, expected):
            return bad
        if unasked := sorted(set(mutated) - set(changed)):
            return (
                Status.REJECTED,
                f"{name}: the forward pass changes its inputs: number {unasked}; write to new tensors",
            )
        found = [read(entry, self.folder, self.reference.device) for entry in entries]
        if any(tensor is None for tensor in found):
            return Status.CHEAT, f"{name}: the outputs announced are not there"
        exact = [tensor for _, tensor in leaves(self.reference.oracle(case))]
        tensors = [tensor for tensor in found if tensor is not None]
        bad = self._values(name, case, tensors, expected, exact)
        if bad and self._replayed(tensors):
            return Status.CHEAT, f"{name}: the output is that of an earlier call, bit for bit, though inputs changed"
        if not bad:
            self.passed.append([tensor.cpu() for tensor in tensors] if number == 0 else [])
        return bad

    def again(self, entries: list[dict[str, Any]]) -> Verdict | None:
        """The first case, run once more with another result: harmless only if both are right."""
        before = len(self.accuracy)
        bad = self.case(0, entries, [])
        del self.accuracy[before:]
        if bad and bad[0] is Status.MISMATCH:
            return Status.NONDETERMINISTIC, f"a second run on the same inputs differs and is wrong: {bad[1]}"
        return bad

    def _values(
        self,
        name: str,
        case: dict[str, Any],
        found: list[torch.Tensor],
        expected: list[tuple[str, torch.Tensor]],
        exact: list[torch.Tensor],
    ) -> Verdict | None:
        wrong = []
        for (place, usual), value, oracle in zip(expected, found, exact, strict=True):
            errors = judge_values(value, usual, oracle)
            if errors.judged < MEANINGFUL:
                continue
            self.accuracy.append(
                {
                    "case": f"{case['kind']} seed {case['seed']}, {place}",
                    "error": errors.error,
                    "reference_error": errors.reference,
                    "budget": errors.budget,
                }
            )
            if not errors.within:
                wrong.append(describe(place, value, oracle, errors))
        return (Status.MISMATCH, f"{name}: " + "\n".join(wrong)) if wrong else None

    def _replayed(self, found: list[torch.Tensor]) -> bool:
        earlier = [tensors for tensors in self.passed if tensors]
        return any(
            len(tensors) == len(found) and all(torch.equal(a, b.cpu()) for a, b in zip(tensors, found, strict=True))
            for tensors in earlier
        )


def _form(entries: list[dict[str, Any]], expected: list[tuple[str, torch.Tensor]]) -> Verdict | None:
    places = [str(entry["place"]) for entry in entries]
    if places != [place for place, _ in expected]:
        return Status.WRONG_SHAPE, f"the result consists of {places}, expected {[place for place, _ in expected]}"
    for entry, (place, tensor) in zip(entries, expected, strict=True):
        if entry["odd"]:
            return Status.CHEAT, f"{place} is a {str(entry['odd'])[:80]}, not a plain tensor"
        if list(entry["shape"]) != list(tensor.shape):
            return Status.WRONG_SHAPE, f"{place} has shape {entry['shape']}, expected {list(tensor.shape)}"
        dtype = str(tensor.dtype).removeprefix("torch.")
        if entry["dtype"] != dtype:
            return Status.WRONG_DTYPE, f"{place} is {entry['dtype']}, expected {dtype}"
    return None


def _verdict(status: Status, feedback: str, accuracy: list[dict[str, Any]]) -> dict[str, Any]:
    return {"status": status.value, "feedback": feedback, "accuracy": accuracy}
