"""For the trusted child: a problem that draws random numbers in its forward pass (dropout in training mode).

No two implementations draw the same numbers, so single values prove nothing. Over repeated draws a candidate must be
distributed like the reference: in how it follows the mean, how far it strays from it, how often it is zero, and where
it does not vary. What this cannot see: correlations between elements, and a few wrong ones among many.
"""

from typing import NamedTuple

import torch

MEASURED, HELD_BACK = 16, 16
"""Draws of the reference that the mean is taken from, and that are compared like the candidate's."""
OWN_DRAWS = MEASURED + HELD_BACK
SIGMAS = 6.0
FIXED = 1e-4
"""Difference, relative to the output's RMS, that counts where the reference did not vary."""
LEAST_VARIANCE = 0.05
"""Of the reference's: a candidate with less draws the same numbers every time."""
STATISTICS = {
    "the factor on the reference's mean": 0.02,
    "the variance over the reference's": 0.02,
    "the share of zeros": 0.02,
    "the share that varies where the reference does not": 0.002,
}
"""What is compared, and what difference is let pass beside the noise of the draws."""


class Chance(NamedTuple):
    """What was found; `text` is empty if all is as it should be."""

    error: float
    text: str


def judge_draws(found: torch.Tensor, usual: torch.Tensor) -> Chance:
    """Compare draws of one output, stacked along the first dimension, with `OWN_DRAWS` of the reference."""
    found, usual = found.double().flatten(1), usual.double().flatten(1)
    measured, held_back = usual[:MEASURED], usual[MEASURED:]
    mean, spread = measured.mean(0), measured.var(0)
    size = float(mean.square().mean().sqrt()) or 1.0
    error = float((found.mean(0) - mean).square().mean().sqrt()) / size
    if not bool(found.isfinite().all()):
        return Chance(error, "the reference is random, and the output holds NaN or infinity, which it never does")
    if float(found.var(0).sum()) < LEAST_VARIANCE * float(spread.sum()):
        return Chance(error, "the reference is random (dropout in training mode?), and the output is not")
    ours, theirs = (_numbers(draws, mean, spread, FIXED * size) for draws in (found, held_back))
    for (name, slack), one, other in zip(STATISTICS.items(), ours, theirs, strict=True):
        gap = abs(float(one.mean() - other.mean()))
        noise = float((one.var() / len(one) + other.var() / len(other)).sqrt())
        if gap > SIGMAS * noise + slack:
            said = f"{name} is {float(one.mean()):.3g}, the reference's {float(other.mean()):.3g}"
            return Chance(
                error, f"the reference is random (dropout in training mode?), and over {len(found)} draws {said}"
            )
    return Chance(error, "")


def _numbers(draws: torch.Tensor, mean: torch.Tensor, spread: torch.Tensor, least: float) -> tuple[torch.Tensor, ...]:
    """One number a draw for each of the statistics."""
    slope = (draws * mean).sum(1) / mean.square().sum().clamp_min(1e-300)
    strayed = (draws - mean).square().sum(1) / spread.sum().clamp_min(1e-300)
    fixed = spread == 0
    varied = ((draws - mean).abs() > least) & fixed
    return slope, strayed, (draws == 0).double().mean(1), varied.double().sum(1) / fixed.sum().clamp_min(1)
