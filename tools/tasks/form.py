"""For the trusted child: has an output the form that the reference's has? Structure, shape, type, layout, memory."""

from egg.state.fault import Fault
from egg.state.status import Status
from egg.tools.tasks.raw import Entry


def wrong_form(found: list[Entry], expected: list[Entry]) -> Fault | None:
    """The first thing that is not as in the reference's outputs; lists and tuples are taken for the same.

    A contiguous output is expected to be contiguous; where the reference's is not, any layout will do that lays no two
    elements into one place.
    """
    ours, theirs = [_leaf(entry) for entry in found], [_leaf(entry) for entry in expected]
    if ours != theirs:
        return Fault(kind=Status.WRONG_SHAPE, text=f"the result consists of {ours}, expected {theirs}")
    for entry, right in zip(found, expected, strict=True):
        if right["kind"] != "none" and (bad := _leaf_fault(entry, right)):
            return bad
    return None


def _leaf(entry: Entry) -> str:
    return str(entry["place"]) + {"tensor": "", "number": " (a number)", "none": " (None)"}[entry["kind"]]


def _leaf_fault(entry: Entry, right: Entry) -> Fault | None:
    place, shape = right["place"], entry["shape"]
    said: tuple[Status, str] | None = None
    if entry["odd"]:
        said = Status.CHEAT, f"is a {str(entry['odd'])[:80]}, not a plain tensor"
    elif entry["layout"] not in ("", right["layout"]):
        said = Status.WRONG_SHAPE, f"is {str(entry['layout'])[:40]}; return its elements as they are"
    elif shape != right["shape"]:
        said = Status.WRONG_SHAPE, f"has shape {shape}, expected {right['shape']}"
    elif entry["dtype"] != right["dtype"]:
        said = Status.WRONG_DTYPE, f"is {entry['dtype']}, expected {right['dtype']}"
    elif entry["device"] != right["device"]:
        said = Status.WRONG_DTYPE, f"is on {str(entry['device'])[:20]}, expected on {right['device']}"
    elif overlapping(entry) and not overlapping(right):
        strides = entry["stride"]
        said = Status.WRONG_SHAPE, f"is one value expanded (strides {strides}): several elements share their memory"
    elif contiguous(right) and not contiguous(entry):
        said = Status.WRONG_SHAPE, f"has strides {entry['stride']}, the reference's is contiguous: {right['stride']}"
    elif aliased := sorted(set(entry["aliases"]) - set(right["aliases"])):
        said = (
            Status.REJECTED,
            f"lies in the memory of input {aliased}, the reference's does not: write to a new tensor",
        )
    elif entry["reused"] and not right["reused"]:
        said = Status.REJECTED, "lies where an earlier call's output still lies: results that are kept would change"
    elif shared := sorted(set(entry["overlaps"]) - set(right["overlaps"])):
        said = Status.REJECTED, f"shares elements with {shared}, the reference's does not"
    if said is None:
        return None
    return Fault(kind=said[0], output=place, shape=tuple(shape), text=f"{place} {said[1]}")


def contiguous(entry: Entry) -> bool:
    """Whether its elements follow each other in memory, the last dimension fastest."""
    step = 1
    for size, stride in zip(reversed(entry["shape"]), reversed(entry["stride"]), strict=True):
        if size != 1 and stride != step:
            return 0 in entry["shape"]
        step *= size
    return True


def overlapping(entry: Entry) -> bool:
    """Whether two of its elements lie in one place, as an expanded tensor's do."""
    steps = sorted((stride, size) for size, stride in zip(entry["shape"], entry["stride"], strict=True) if size > 1)
    reach = 0
    for stride, size in steps:
        if stride <= reach and 0 not in entry["shape"]:
            return True
        reach += stride * (size - 1)
    return False
