"""By simulation: how often the interval holds the truth, and how often equals are called faster."""

import math
from random import Random
from typing import NamedTuple

import pytest

from egg.state.evaluation import Speedup
from egg.tools.timing import statistics
from egg.tools.timing.measure import THOROUGH
from egg.tools.timing.statistics import Session, ratio_of_medians

SAMPLES = 6
TRIALS = 100


class Noise(NamedTuple):
    """Standard deviations of logarithms: of a process, of a round on one side, of a sample."""

    process: float
    round: float
    sample: float


NOISES = {
    "calm": Noise(0.003, 0.01, 0.03),
    "unlike processes": Noise(0.01, 0.01, 0.03),
    "unlike rounds": Noise(0.003, 0.04, 0.05),
    "launch-bound": Noise(0.015, 0.03, 0.05),
}


def side(random: Random, noise: Noise, drifts: list[list[float]], median_ms: float = 1.0) -> list[Session]:
    """Sessions of rounds. A round's drift is common to both sides; samples now and then take much longer."""
    sessions: list[Session] = []
    for drift in drifts:
        process = random.gauss(0, noise.process)
        rounds = []
        for common in drift:
            level = process + common + random.gauss(0, noise.round)
            tails = [abs(random.gauss(0, 1)) * (random.random() < 0.1) for _ in range(SAMPLES)]
            rounds.append([median_ms * math.exp(level + random.gauss(0, noise.sample) + 0.1 * t) for t in tails])
        sessions.append(rounds)
    return sessions


def trial(random: Random, noise: Noise, true: float = 1.0) -> Speedup:
    drifts = [[random.gauss(0, 0.02) for _ in range(THOROUGH.rounds)] for _ in range(THOROUGH.sessions)]
    ratio = ratio_of_medians(side(random, noise, drifts, true), side(random, noise, drifts))
    return Speedup(baseline="eager", ratio=ratio.ratio, low=ratio.low, high=ratio.high)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "RESAMPLES", 200)


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES.keys())
def test_equals(noise: Noise) -> None:
    random = Random(11)
    seen = [trial(random, noise) for _ in range(TRIALS)]
    holds = sum(speedup.low <= 1 <= speedup.high for speedup in seen)
    assert holds >= 0.95 * TRIALS
    assert sum(speedup.proven for speedup in seen) <= 0.01 * TRIALS


@pytest.mark.slow
def test_a_real_gain_is_found_and_its_interval_holds_it() -> None:
    random = Random(12)
    seen = [trial(random, NOISES["calm"], 1.05) for _ in range(TRIALS // 2)]
    assert sum(speedup.proven for speedup in seen) >= 0.95 * len(seen)
    assert sum(speedup.low <= 1.05 <= speedup.high for speedup in seen) >= 0.95 * len(seen)


def test_a_gain_too_small_to_matter_is_not_called_faster() -> None:
    assert not Speedup(baseline="eager", ratio=1.015, low=1.01, high=1.02).proven
    assert Speedup(baseline="eager", ratio=1.03, low=1.01, high=1.05).proven
