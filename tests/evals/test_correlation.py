"""Rank correlation, ties and all."""

from math import isnan

import pytest

from egg.evals.correlation import ranks, spearman


def test_order_alone_counts() -> None:
    assert spearman([1, 2, 3, 4], [1, 10, 100, 1000]) == pytest.approx(1.0)
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1.0)


def test_equal_values_share_their_rank() -> None:
    assert ranks([3.0, 1.0, 3.0, 2.0]) == [3.5, 1.0, 3.5, 2.0]
    assert spearman([1, 2, 3], [1, 1, 2]) == pytest.approx(0.866, abs=1e-3)


def test_one_value_has_no_order() -> None:
    assert isnan(spearman([1, 1, 1], [1, 2, 3]))
