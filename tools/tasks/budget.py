"""How far from exact a candidate's output may be: a multiple of the reference's own error, or its type's floor."""

from dataclasses import dataclass

import torch

TIMES = 4.0
"""Times the reference's own error."""
FLOOR = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4.9e-4, torch.bfloat16: 3.9e-3}
"""Below this an error is the type's rounding: float32 leaves room for sums in another order, not for TF32 (2e-4)."""
FEW, FEW_TIMES = 32, 10.0
"""An output of so few elements has no mean to speak of: its error is one draw."""
MOST = 0.25
"""A reference further from exact than this is random or chaotic, and no licence to be so too."""
ELEMENT_TIMES = 8.0
"""Times the worst element of the reference, so that a few wrong ones among millions show."""


@dataclass(frozen=True)
class Errors:
    """One output of one case. Errors are RMS of the difference over RMS of the oracle."""

    error: float
    reference: float
    budget: float
    bad: torch.Tensor
    """Mask of elements that are wrong by themselves."""
    judged: float
    """Share of elements whose exact value is finite."""

    @property
    def within(self) -> bool:
        return self.error <= self.budget and not bool(self.bad.any())


def judge_values(candidate: torch.Tensor, reference: torch.Tensor, oracle: torch.Tensor) -> Errors:
    """Compare tensors of one shape. `candidate` and `reference` have one type, `oracle` a wider or the same."""
    if not candidate.is_floating_point():
        bad = (candidate != reference) & (candidate != oracle)
        share = float(bad.float().mean()) if bad.numel() else 0.0
        return Errors(share, 0.0, 0.0, bad, 1.0)
    exact, found, usual = oracle.double(), candidate.double(), reference.double()
    finite = exact.isfinite() & usual.isfinite()
    # Where the reference and exact arithmetic agree on infinity or NaN, so must the candidate; where they differ, free.
    agreed = ~exact.isfinite() & _alike(exact, usual)
    bad = (finite & ~found.isfinite()) | (agreed & ~_alike(found, exact))
    exact, found, usual = (torch.where(finite & t.isfinite(), t, 0.0) for t in (exact, found, usual))
    found = torch.where(finite & ~bad, found, 0.0)
    scale = _rms(exact) or 1.0
    floor = FLOOR.get(reference.dtype, 0.05) * (FEW_TIMES if exact.numel() < FEW else 1.0)
    off, own = (found - exact).abs(), (usual - exact).abs()
    worst = float(own.max()) if own.numel() else 0.0
    bad |= off > ELEMENT_TIMES * (worst + floor * (exact.abs() + scale))
    reference_error = _rms(own) / scale
    budget = min(max(TIMES * reference_error, floor), MOST)
    return Errors(_rms(off) / scale, reference_error, budget, bad, float(finite.double().mean()))


def _rms(values: torch.Tensor) -> float:
    return float(values.square().mean().sqrt()) if values.numel() else 0.0


def _alike(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return (one == other) | (one.isnan() & other.isnan())
