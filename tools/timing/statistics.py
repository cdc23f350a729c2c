"""Medians of repeated timings, and how sure their ratio is."""

from collections.abc import Sequence
from itertools import chain
from math import exp, hypot, log, sqrt
from random import Random
from statistics import median, quantiles
from typing import NamedTuple

from egg.state.evaluation import Timing

Session = Sequence[Sequence[float]]
"""Samples of one pair of processes, by round. Within a round both sides ran close together."""

RESAMPLES = 2000
TAIL = 0.005
"""Share of draws left out on each side. With few processes to draw from, draws scatter less than the truth does: by
simulation, leaving out 2.5 % would cover 83 to 95 % of the time, this covers 95 to 100 % (tests/tools/test_claims.py).
"""
RESOLUTION = 0.01
"""By what share two processes of the same code may differ in a way that no repetition within them shows."""


class Ratio(NamedTuple):
    """A ratio of medians and its 95 % interval."""

    ratio: float
    low: float
    high: float


def pooled(sessions: Sequence[Session]) -> list[float]:
    """All samples of all rounds."""
    return [sample for session in sessions for turn in session for sample in turn]


def summary(sessions: Sequence[Session]) -> Timing:
    """Median, 20th and 80th percentile."""
    samples = pooled(sessions)
    fifths = quantiles(samples, n=5, method="inclusive") if len(samples) > 1 else samples * 4
    return Timing(median_ms=median(samples), p20_ms=fifths[0], p80_ms=fifths[3], samples=len(samples))


def ratio_of_medians(baseline: Sequence[Session], candidate: Sequence[Session], seed: int = 0) -> Ratio:
    """Baseline over candidate, with a bootstrap interval.

    Samples of one round share the GPU's clock and temperature, and those of one process its memory layout, so whole
    processes and whole rounds are drawn again, never single samples: those would make the interval far too narrow.
    Both sides are drawn alike, since they ran in turns. What processes differ by is added in quadrature.
    """
    random = Random(seed)
    ratios = sorted(_drawn(baseline, candidate, random) for _ in range(RESAMPLES))
    whole = median(pooled(baseline)) / median(pooled(candidate))
    apart = 1.96 * RESOLUTION / sqrt(len(candidate))
    below = max(0.0, log(whole / ratios[int(TAIL * RESAMPLES)]))
    above = max(0.0, log(ratios[-1 - int(TAIL * RESAMPLES)] / whole))
    return Ratio(whole, whole * exp(-hypot(below, apart)), whole * exp(hypot(above, apart)))


def _drawn(baseline: Sequence[Session], candidate: Sequence[Session], random: Random) -> float:
    above: list[Sequence[float]] = []
    below: list[Sequence[float]] = []
    for index in random.choices(range(len(baseline)), k=len(baseline)):
        rounds = range(len(baseline[index]))
        for turn in random.choices(rounds, k=len(rounds)):
            above.append(baseline[index][turn])
            below.append(candidate[index][turn])
    return median(chain.from_iterable(above)) / median(chain.from_iterable(below))
