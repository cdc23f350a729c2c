"""Worker task, trusted: compare what a candidate left in files with the reference and with exact arithmetic."""

from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import torch

from egg.state.fault import Fault
from egg.state.status import Status
from egg.tools.tasks.budget import judge_values
from egg.tools.tasks.cases import Case, case_inputs
from egg.tools.tasks.chance import OWN_DRAWS, judge_draws
from egg.tools.tasks.form import wrong_form
from egg.tools.tasks.memory import digests, tensors_of
from egg.tools.tasks.mismatch import mismatch
from egg.tools.tasks.raw import Entry, leaves, read
from egg.tools.tasks.reference import Exact, Reference, Usual
from egg.tools.tasks.traits import is_random, scales_with_inputs, sums_exactly

SHOWN = 8
MEANINGFUL = 0.5
"""Share of finite exact values below which a case says nothing and is left out, unless it is the problem's own."""
REMEMBERED = 1 << 26
"""Elements of an output up to which its exact values are kept for another run of the same case."""

OTHER_DRAWS = 1 << 20
IGNORES_BUFFERS = "buffers that are changed after construction are not read: their first values are built in"

Json = dict[str, Any]


def serve(payload: Json) -> Generator[Json, Json, None]:
    """Set the reference up, then judge what a candidate leaves, case by case.

    Args:
        payload: `problem` (text), `policy`, `device`, `seed`, `folder` of the files, `first`: a case, `traits`: whether
            to find out what the problem is like.

    Yields:
        First `random`, `scales`, the `parameters`' names, the `bytes` of inputs and
        outputs and the number of `parts` of the output. Then for
        `{"do": "judge", "case", "name", "answer"}` `faults`, `accuracy`, `bits` and a `finding`; for
        `{"do": "draws", "case", "name", "answers"}` the same; for `{"do": "show", "case", "answer"}` values side by
        side. An `answer` is what the candidate's child said, which may be forged.
    """
    referee = Referee(
        Reference(payload["problem"], payload["policy"], payload["seed"], payload["device"]), payload["folder"]
    )
    answer = referee.introduce(payload["first"], payload["traits"])
    while True:
        referee.reference.free()
        message = yield answer
        answer = {"judge": referee.judge, "draws": referee.draws, "show": referee.show}[message["do"]](message)


class Right(NamedTuple):
    """What is right for one case."""

    usual: Usual
    exact: Exact
    moved: Any


class Referee:
    """Goes through cases and remembers what the candidate gave."""

    def __init__(self, reference: Reference, folder: str) -> None:
        self.reference, self.folder = reference, Path(folder)
        self.scales = False
        self._seen: dict[str, Case] = {}
        self._known: tuple[Case, Right] | None = None

    def introduce(self, first: Case, traits: bool) -> Json:
        """What the problem is like."""
        usual = self.reference.usual(first)
        inputs = case_inputs(self.reference.module, first, self.reference.device)
        size = sum(tensor.nbytes for tensor in tensors_of([inputs, usual.output]))
        del inputs
        random = usual.drew and is_random(self.reference, first)
        self.scales = traits and not random and scales_with_inputs(self.reference, first)
        names = [name for name, _ in self.reference.model.named_parameters()]
        return {
            "random": random,
            "scales": self.scales,
            "parameters": sorted(names),
            "bytes": size,
            "parts": len(usual.forms),
        }

    def judge(self, message: Json) -> Json:
        """`faults` of one case, `accuracy` of each output, `bits` (equal for equal outputs) and a `finding`."""
        case, answer, name = message["case"], message["answer"], message["name"]
        right = self._right(case)
        found, faults = self._found(answer, right.usual)
        accuracy: list[Json] = []
        finding, bits = "", str(digests(found))
        if not faults:
            faults = self._values(case, name, found, right, accuracy)
            faults += self._inputs(case, name, answer, right, accuracy) if not faults else []
            faults += self._buffers(case, name, answer, right, accuracy) if not faults else []
            if faults and case["weights"] == "moved" and self._ignores_buffers(case, found):
                finding, faults = IGNORES_BUFFERS, []
        earlier = self._seen.setdefault(bits, case)
        if faults and earlier["seed"] != case["seed"] and all(fault.kind is Status.MISMATCH for fault in faults):
            said = "the output is that of an earlier call, bit for bit, though inputs changed"
            faults = [Fault(kind=Status.CHEAT, case=name, text=said)]
        told = [fault.model_dump(mode="json") for fault in faults]
        return {"faults": told, "accuracy": accuracy, "bits": bits, "finding": finding}

    def draws(self, message: Json) -> Json:
        """The same for several draws of a random problem on the same inputs."""
        case, answers = message["case"], message["answers"]
        usual = self.reference.usual(case)
        found: list[list[torch.Tensor]] = []
        accuracy: list[Json] = []
        faults: list[Fault] = []
        for answer in answers:
            tensors, faults = self._found(answer, usual)
            if faults:
                break
            found.append(tensors)
        else:
            # Other streams than the candidate had, or one that draws as PyTorch does would follow them too well.
            own = [tensors_of([self._drawn(case, OTHER_DRAWS + draw)]) for draw in range(OWN_DRAWS)]
            for entry, ours, theirs in zip(usual.forms, zip(*found, strict=True), zip(*own, strict=True), strict=False):
                told = judge_draws(torch.stack(ours), torch.stack(theirs))
                accuracy.append(_accuracy(case, entry["place"], told.error, 0.0, 0.0, "repeated draws"))
                if told.text:
                    said = f"{entry['place']}: {told.text}"
                    faults.append(Fault(kind=Status.MISMATCH, case=message["name"], output=entry["place"], text=said))
        return {"faults": [f.model_dump(mode="json") for f in faults], "accuracy": accuracy, "bits": ""}

    def show(self, message: Json) -> Json:
        """Some values of each output beside the exact ones."""
        case, outputs = message["case"], []
        exact = dict(leaves(self._right(case).exact.output))
        for entry in message["answer"]["outputs"]:
            if entry["kind"] == "none":
                continue
            found, right = read(entry, self.folder, self.reference.device), exact.get(entry["place"])
            seen = {"place": entry["place"], "shape": entry["shape"], "dtype": entry["dtype"]}
            for name, value in (("candidate", found), ("expected", right)):
                if value is not None:
                    seen[name] = _some(torch.as_tensor(value))
            outputs.append(seen)
        return {"outputs": outputs}

    def _right(self, case: Case) -> Right:
        plain: Case = {**case, "strided": False}
        usual = self.reference.usual(case)
        if self._known and self._known[0] == plain:
            return self._known[1]._replace(usual=usual)
        exact = self.reference.exact(plain, usual.output, usual.changed)
        right = Right(usual, exact, self.reference.moved(plain, exact))
        if not self._known and sum(t.numel() for t in tensors_of([exact.output])) <= REMEMBERED:
            self._known = plain, right
        return right

    def _found(self, answer: Json, usual: Usual) -> tuple[list[torch.Tensor], list[Fault]]:
        """The candidate's tensors, or what is wrong with their form."""
        entries: list[Entry] = answer["outputs"]
        if unasked := sorted(set(answer["mutated"]) - set(usual.changed)):
            said = f"the forward pass changes its inputs: number {unasked}; write to new tensors"
            return [], [Fault(kind=Status.REJECTED, text=said)]
        if bad := wrong_form(entries, usual.forms):
            return [], [bad]
        found = [read(entry, self.folder, self.reference.device) for entry in entries if entry["kind"] != "none"]
        if any(tensor is None for tensor in found):
            return [], [Fault(kind=Status.CHEAT, text="the outputs announced are not there")]
        return [tensor for tensor in found if tensor is not None], []

    def _drawn(self, case: Case, draw: int) -> Any:
        other: Case = {**case, "draw": draw}
        return self.reference.usual(other).output

    def _ignores_buffers(self, case: Case, found: list[torch.Tensor]) -> bool:
        """Whether a wrong output is right for new parameters with the buffers as they were constructed."""
        other: Case = {**case, "weights": "moved parameters"}
        return not self._values(other, "", found, self._right(other), [])

    def _values(
        self, case: Case, name: str, found: list[torch.Tensor], right: Right, accuracy: list[Json]
    ) -> list[Fault]:
        kept = [entry for entry in right.usual.forms if entry["kind"] != "none"]
        usual, exact = (self._values_of(value) for value in (right.usual.output, right.exact.output))
        moved = [None] * len(kept) if right.moved is None else self._values_of(right.moved)
        bitwise = case["kind"] == "integers" and sums_exactly(self.reference, case, right.usual.output, right.exact)
        faults = []
        for entry, value, own, oracle, other in zip(kept, found, usual, exact, moved, strict=True):
            place = entry["place"]
            errors = judge_values(value, own, oracle, other, strict=case["kind"] == "rows" and self.scales)
            if errors.judged < MEANINGFUL and case["kind"] != "own":
                continue
            budget = 0.0 if bitwise else errors.budget
            if errors.judged:
                accuracy.append(_accuracy(case, place, errors.error, errors.reference, budget, right.exact.by))
            if bitwise and not torch.equal(value.double(), oracle.double()):
                why = "sums of small integers must be exact, in whatever order"
                errors = errors.inexact(value.double() != oracle.double(), why)
            if not errors.within:
                faults.append(mismatch(name, place, value, oracle, errors))
        return faults

    def _values_of(self, value: Any) -> list[torch.Tensor]:
        return [torch.as_tensor(leaf, device=self.reference.device) for _, leaf in leaves(value) if leaf is not None]

    def _inputs(self, case: Case, name: str, answer: Json, right: Right, accuracy: list[Json]) -> list[Fault]:
        """Inputs that the reference changes must become what it makes of them."""
        told = {str(entry["place"]): entry for entry in answer["changed"]}
        before = (
            tensors_of(case_inputs(self.reference.module, case, self.reference.device)) if right.usual.inputs else []
        )
        faults = []
        for number, own in right.usual.inputs.items():
            place, left = f"input {number}", number not in answer["mutated"]
            found: torch.Tensor | None = before[number]
            if not left:
                entry = told.get(f"output['{number}']")
                known = entry is not None and entry["kind"] == "tensor" and entry["shape"] == list(own.shape)
                found = read(entry, self.folder, self.reference.device) if entry and known else None
            if found is None or found.shape != own.shape or found.dtype != own.dtype:
                return [Fault(kind=Status.CHEAT, case=name, output=place, text=f"{place} as announced is not there")]
            oracle = right.exact.inputs.get(number, own)
            errors = judge_values(found, own, oracle)
            if errors.judged:
                accuracy.append(_accuracy(case, place, errors.error, errors.reference, errors.budget, right.exact.by))
            if errors.within:
                continue
            wrong = mismatch(name, place, found, oracle, errors)
            if left:
                said = f"{place} is changed in place by the reference's forward pass, and left alone by this one"
                wrong = wrong.model_copy(update={"text": said})
            faults.append(wrong)
        return faults

    def _buffers(self, case: Case, name: str, answer: Json, right: Right, accuracy: list[Json]) -> list[Fault]:
        """Running statistics and the like, where the candidate has buffers of the same names."""
        if not answer["same_state"]:
            return []
        told = {str(entry["place"]): entry for entry in answer["buffers"]}
        faults = []
        for key, own in right.usual.buffers.items():
            place, entry = f"buffer {key}", told.get(f"output[{key!r}]")
            if entry is None:
                said = f"{place} is updated by the reference's forward pass, and not by this one"
                faults.append(Fault(kind=Status.MISMATCH, case=name, output=place, shape=tuple(own.shape), text=said))
                continue
            known = entry["kind"] == "tensor" and entry["shape"] == list(own.shape)
            found = read(entry, self.folder, self.reference.device) if known else None
            if found is None or found.shape != own.shape or found.dtype != own.dtype:
                faults.append(Fault(kind=Status.WRONG_SHAPE, case=name, output=place, text=f"{place} has another form"))
                continue
            oracle = right.exact.buffers.get(key, own)
            errors = judge_values(found, own, oracle)
            accuracy.append(_accuracy(case, place, errors.error, errors.reference, errors.budget, right.exact.by))
            if not errors.within:
                faults.append(mismatch(name, place, found, oracle, errors))
        return faults


def _accuracy(case: Case, place: str, error: float, reference: float, budget: float, oracle: str) -> Json:
    weights = "" if case["weights"] == "own" else f", weights {case['weights']}"
    return {
        "case": f"{case['kind']} seed {case['seed']}{weights}, {place}",
        "error": error,
        "reference_error": reference,
        "budget": budget,
        "oracle": oracle,
    }


def _some(tensor: torch.Tensor) -> Json:
    flat = tensor.reshape(-1)

    def rounded(values: torch.Tensor) -> list[float]:
        return [float(f"{float(value):.6g}") for value in values]

    return {"first": rounded(flat[:SHOWN]), "last": rounded(flat[-SHOWN:]), "mean": float(flat.double().mean())}
