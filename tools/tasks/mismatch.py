"""A wrong output as a fault: where the wrong elements lie and what they look like."""

import torch

from egg.state.fault import Fault, Span
from egg.state.status import Status
from egg.tools.tasks.budget import Errors

LOOKED_AT = 1 << 24
"""Elements beyond which the look of an output is told from its beginning."""


def mismatch(case: str, place: str, candidate: torch.Tensor, oracle: torch.Tensor, errors: Errors) -> Fault:
    """Typed, and in a few lines for whoever repairs the kernel."""
    bad = errors.bad if bool(errors.bad.any()) else _largest(candidate, oracle, errors)
    shape, count = tuple(candidate.shape), int(bad.sum())
    at = _corners(bad) if count else None
    region = _region(at, shape) if at else ()
    tail = any(span.high == span.size - 1 for span in region)
    first = tuple(_index(bad)) if count else None
    fault = Fault(
        kind=Status.MISMATCH,
        text="",
        case=case,
        output=place,
        shape=shape,
        wrong=count,
        total=bad.numel(),
        error=errors.error,
        budget=errors.budget,
        reference_error=errors.reference,
        first=first,
        found=float(candidate[first].double()) if first is not None else None,
        expected=float(oracle[first].double()) if first is not None else None,
        region=region,
        tail=tail,
        look=_look(candidate.reshape(-1)[:LOOKED_AT].double(), oracle.reshape(-1)[:LOOKED_AT].double()),
    )
    dtype = str(candidate.dtype).removeprefix("torch.")
    return fault.model_copy(update={"text": words(fault, dtype, errors.excess)})


def words(fault: Fault, dtype: str, excess: str) -> str:
    """The fault in words."""
    said = (
        f"{fault.output} {list(fault.shape)} {dtype}: error {fault.error:.2e} against a budget of {fault.budget:.2e} "
        f"(the reference's own: {fault.reference_error:.2e})"
    )
    lines = [f"{said}; {fault.wrong} of {fault.total} elements wrong"] if fault.wrong else [said]
    if excess:
        lines.append(excess)
    if fault.first is not None:
        lines.append(f"first wrong at {list(fault.first)}: {fault.found:.6g} instead of {fault.expected:.6g}")
    for span in fault.region:
        tail = " (the tail: is a mask missing or wrong?)" if span.high == span.size - 1 else ""
        lines.append(f"wrong only at {span.low}..{span.high} of dimension {span.dim} (size {span.size}){tail}")
    if fault.look:
        lines.append(fault.look)
    return "; ".join(lines)


def _largest(candidate: torch.Tensor, oracle: torch.Tensor, errors: Errors) -> torch.Tensor:
    """Elements beyond the mean budget, where none is wrong by itself."""
    if errors.excess and errors.error <= errors.budget:
        return torch.zeros_like(errors.bad)
    finite = torch.where(oracle.isfinite(), oracle, 0.0)
    return ((candidate - oracle).abs() > errors.budget * finite.abs().mean(dtype=torch.float64)) & oracle.isfinite()


def _index(bad: torch.Tensor) -> list[int]:
    first = int(bad.reshape(-1).to(torch.uint8).argmax())
    place = []
    for size in reversed(bad.shape):
        first, index = divmod(first, size)
        place.append(index)
    return place[::-1]


def _corners(bad: torch.Tensor) -> list[tuple[int, int]]:
    """First and last index of a wrong element along each dimension."""
    ends = []
    for dim in range(bad.dim()):
        others = tuple(d for d in range(bad.dim()) if d != dim)
        where = (bad.any(dim=others) if others else bad).nonzero()
        ends.append((int(where[0]), int(where[-1])))
    return ends


def _region(ends: list[tuple[int, int]], shape: tuple[int, ...]) -> tuple[Span, ...]:
    return tuple(
        Span(dim=dim, low=low, high=high, size=size)
        for dim, ((low, high), size) in enumerate(zip(ends, shape, strict=True))
        if size > 1 and (low, high) != (0, size - 1)
    )


def _look(found: torch.Tensor, exact: torch.Tensor) -> str:
    if not found.numel():
        return ""
    if not bool((found.isfinite() | ~exact.isfinite()).all()):
        bad = int((~found.isfinite() & exact.isfinite()).sum())
        return f"{bad} elements are NaN or infinite: uninitialised memory, or an overflow"
    if not bool(found.any()):
        return "the output is all zeros"
    if found.numel() > 1 and bool((found == found[0]).all()):
        return "the output is one constant"
    both = found.isfinite() & exact.isfinite()
    found, usable = torch.where(both, found, 0.0), torch.where(both, exact, 0.0)
    size = usable.norm().clamp_min(1e-300)
    factor = float((found * usable).sum() / size.square())
    if abs(factor - 1) > 1e-3 and float((found - factor * usable).norm() / found.norm().clamp_min(1e-300)) < 1e-3:
        return f"the output is {factor:.6g} times the right one"
    shift = found - usable
    if float(shift.norm() / size) > 1e-3 and float((shift - shift.mean()).norm() / size) < 1e-3 and usable.std() > 0:
        return f"the output is the right one plus {float(shift.mean()):.6g}"
    return ""
