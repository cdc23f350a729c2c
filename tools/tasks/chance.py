"""For the trusted child: a problem that draws random numbers in its forward pass (dropout in training mode).

No two implementations draw the same numbers, so single values prove nothing. Over repeated draws a candidate must be
distributed like the reference: in how it follows the mean, how far it strays from it, and how often it is zero.
"""

from typing import NamedTuple

import torch

DRAWS, OWN_DRAWS = 8, 24
"""Of the candidate, and of the reference."""
SIGMAS, SLACK = 6.0, 0.02
FIXED = 1e-4
"""Error allowed, relative to the output's RMS, where the reference does not vary."""


class Chance(NamedTuple):
    """What was found; `text` is empty if all is as it should be."""

    error: float
    text: str


def judge_draws(found: torch.Tensor, usual: torch.Tensor) -> Chance:
    """Compare draws of one output, stacked along the first dimension, with draws of the reference."""
    found, usual = found.double().flatten(1), usual.double().flatten(1)
    mean, spread = usual.mean(0), usual.var(0)
    size = float(mean.square().mean().sqrt()) or 1.0
    error = float((found.mean(0) - mean).square().mean().sqrt()) / size
    if not bool(found.isfinite().all()):
        return Chance(error, "the reference is random, and the output holds NaN or infinity, which it never does")
    fixed = spread == 0
    if bool(fixed.any()) and float((found - mean)[:, fixed].abs().max()) > FIXED * size:
        return Chance(error, "the reference is random, but not everywhere; elements that do not vary are wrong")
    for name, ours, theirs in zip(
        STATISTICS, _numbers(found, mean, spread), _numbers(usual, mean, spread), strict=True
    ):
        gap = abs(float(ours.mean() - theirs.mean()))
        noise = float((ours.var() / len(ours) + theirs.var() / len(theirs)).sqrt())
        if gap > SIGMAS * noise + SLACK:
            said = f"{name} is {float(ours.mean()):.3g}, the reference's {float(theirs.mean()):.3g}"
            return Chance(error, f"the reference is random (dropout in training mode?), and over {DRAWS} draws {said}")
    return Chance(error, "")


STATISTICS = ("the factor on the reference's mean", "the variance over the reference's", "the share of zeros")


def _numbers(draws: torch.Tensor, mean: torch.Tensor, spread: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """One number a draw for each of the statistics."""
    energy = mean.square().sum().clamp_min(1e-300)
    slope = (draws * mean).sum(1) / energy
    strayed = (draws - mean).square().sum(1) / spread.sum().clamp_min(1e-300)
    return slope, strayed, (draws == 0).double().mean(1)
