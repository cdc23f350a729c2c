"""What a candidate's child says, before anything of it is used: it may be forged."""

from typing import Any

from egg.state.status import Status
from egg.tools.errors import CandidateError
from egg.tools.share import read_replay

Json = dict[str, Any]
LONGEST = 500
MOST = 1 << 48
"""Of a size or a stride, which PyTorch can still multiply."""
TENSOR: dict[str, type] = {"shape": list, "dtype": str, "stride": list, "device": str, "odd": str, "layout": str}
NUMBERS, PLACES = ("shape", "stride", "aliases"), "overlaps"


NEEDED = {
    "open": ("weights", "parameters"),
    "call": ("outputs", "buffers", "mutated", "seconds", "digest"),
    "replay": ("replay",),
}
"""What an answer must hold, by what was asked."""


def well_formed(answer: Json, asked: str) -> Json:
    """The answer with every field that is read later, each of its type.

    Raises:
        CandidateError: it is none that `tasks.candidate` gives.
    """
    try:
        if missing := [name for name in NEEDED[asked] if name not in answer]:
            raise KeyError(missing)
        return {
            "outputs": [read_entry(entry) for entry in answer.get("outputs", ())],
            "buffers": [read_entry(entry) for entry in answer.get("buffers", ())],
            "changed": [read_entry(entry) for entry in answer.get("changed", ())],
            "work": [str(said)[:LONGEST] for said in answer.get("work", ())],
            "mutated": [int(number) for number in answer.get("mutated", ())],
            "seconds": float(answer.get("seconds", 0.0)),
            "digest": str(answer.get("digest", ""))[:LONGEST],
            "replay": read_replay(answer.get("replay")),
            "launches": int(answer["launches"]),
            "weights": str(answer.get("weights", ""))[:LONGEST],
            "parameters": [str(name) for name in answer.get("parameters", ())],
            "tampered": [str(name)[:80] for name in answer["tampered"]],
        }
    except (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise CandidateError(Status.CHEAT, "the answer of the candidate's process is forged") from error


def read_entry(entry: Json) -> Json:
    """What is said of one output. Raises what a forged one brings about."""
    place, kind, file = str(entry["place"])[:LONGEST], entry["kind"], str(entry["file"])[:LONGEST]
    if kind == "none":
        return {"place": place, "kind": kind, "file": file}
    if kind not in ("tensor", "number"):
        raise ValueError(f"no such kind of output: {kind}")
    checked: Json = {"place": place, "kind": kind, "file": file}
    checked |= {name: type_(entry[name]) for name, type_ in TENSOR.items()}
    checked |= {name: [_number(value) for value in entry[name]] for name in NUMBERS}
    checked["reused"] = bool(entry["reused"])
    checked[PLACES] = [str(value)[:LONGEST] for value in entry[PLACES]]
    if len(checked["shape"]) != len(checked["stride"]) and not (checked["odd"] or checked["layout"]):
        raise ValueError("a stride for each dimension")
    return checked


def _number(value: Any) -> int:
    if not isinstance(value, int) or not 0 <= value < MOST:
        raise ValueError(f"not a size: {value}")
    return value
