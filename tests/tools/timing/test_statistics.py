"""The interval covers what it should, and is not made of single samples."""

from random import Random

import pytest

from egg.tools.timing.statistics import ratio_of_medians, summary


def rounds(
    random: Random, median_ms: float, drift: float, noise: float, count: int = 10, size: int = 12
) -> list[list[float]]:
    """Samples by round; a round's common factor is drawn from `drift`."""
    return [
        [median_ms * level * random.gauss(1, noise) for _ in range(size)]
        for level in (random.gauss(1, drift) for _ in range(count))
    ]


def test_summary_of_known_samples() -> None:
    timing = summary([[[1.0, 2.0, 3.0], [4.0, 5.0]], [[6.0]]])
    assert (timing.median_ms, timing.samples) == (3.5, 6)
    assert timing.p20_ms == pytest.approx(2.0) and timing.p80_ms == pytest.approx(5.0)


def test_one_sample_is_its_own_spread() -> None:
    timing = summary([[[2.0]]])
    assert timing.p20_ms == timing.median_ms == timing.p80_ms == 2.0


def test_a_real_gain_is_proven_and_the_ratio_points_the_right_way() -> None:
    random = Random(1)
    ratio = ratio_of_medians([rounds(random, 2.0, 0.01, 0.02)], [rounds(random, 1.0, 0.01, 0.02)])
    assert 1.9 < ratio.low < ratio.ratio < ratio.high < 2.1


def test_rounds_that_disagree_widen_the_interval() -> None:
    calm = [[1.0, 1.01] * 6 for _ in range(10)]
    shaken = [[level, level * 1.01] * 6 for level in (0.8, 1.2, 0.9, 1.1, 1.0) * 2]
    narrow = ratio_of_medians([calm], [calm])
    wide = ratio_of_medians([shaken], [calm])
    assert wide.high - wide.low > 5 * (narrow.high - narrow.low)


def test_processes_that_disagree_are_not_averaged_away() -> None:
    fast, slow = [[1.0, 1.02] * 6] * 10, [[1.3, 1.32] * 6] * 10
    ratio = ratio_of_medians([fast, slow, fast], [fast, fast, fast])
    assert ratio.low <= 1.02 and ratio.high >= 1.25


def test_the_same_samples_give_the_same_interval() -> None:
    one = [rounds(Random(3), 1.0, 0.02, 0.02)]
    assert ratio_of_medians(one, one, seed=7) == ratio_of_medians(one, one, seed=7)
