"""Words for a wrong output: where the wrong elements lie and what they look like."""

import torch

from egg.tools.tasks.budget import Errors


def describe(place: str, candidate: torch.Tensor, oracle: torch.Tensor, errors: Errors) -> str:
    """A few lines for whoever repairs the kernel."""
    found, exact = candidate.double(), oracle.double()
    bad = errors.bad if bool(errors.bad.any()) else (found - exact).abs() > errors.budget * exact.abs().mean()
    shape = list(candidate.shape)
    count, total = int(bad.sum()), max(1, bad.numel())
    lines = [
        f"{place} {shape} {str(candidate.dtype).removeprefix('torch.')}: error {errors.error:.2e} against a budget of "
        f"{errors.budget:.2e} (the reference's own: {errors.reference:.2e}); {count} of {total} elements wrong"
    ]
    if count:
        at = bad.nonzero()
        lines += [_element(name, index, found, exact) for name, index in (("first", at[0]), ("last", at[-1]))]
        lines += _region(at, shape)
    lines += _look(found, exact)
    return "; ".join(lines)


def _element(name: str, index: torch.Tensor, found: torch.Tensor, exact: torch.Tensor) -> str:
    place = tuple(index.tolist())
    return f"{name} wrong at {list(place)}: {float(found[place]):.6g} instead of {float(exact[place]):.6g}"


def _region(at: torch.Tensor, shape: list[int]) -> list[str]:
    lines = []
    for dim, size in enumerate(shape):
        low, high = int(at[:, dim].min()), int(at[:, dim].max())
        if (low, high) != (0, size - 1) and size > 1:
            tail = " (the tail: is a mask missing or wrong?)" if high == size - 1 else ""
            lines.append(f"wrong only at {low}..{high} of dimension {dim} (size {size}){tail}")
    return lines


def _look(found: torch.Tensor, exact: torch.Tensor) -> list[str]:
    if not bool(found.isfinite().all()):
        bad = int((~found.isfinite()).sum())
        return [f"{bad} elements are NaN or infinite: uninitialised memory, or an overflow"]
    if not bool(found.any()):
        return ["the output is all zeros"]
    if found.numel() > 1 and bool((found == found.reshape(-1)[0]).all()):
        return ["the output is one constant"]
    usable = torch.where(exact.isfinite(), exact, 0.0)
    factor = float((found * usable).sum() / usable.square().sum().clamp_min(1e-300))
    rest = float((found - factor * usable).norm() / found.norm())
    if rest < 1e-3:
        return [f"the output is {factor:.6g} times the right one"]
    if usable.std() > 0 and float((found - usable - (found - usable).mean()).norm() / usable.norm()) < 1e-3:
        return [f"the output is the right one plus {float((found - usable).mean()):.6g}"]
    return []
