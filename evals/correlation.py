"""Whether two lists of figures come in the same order."""

from collections.abc import Sequence
from statistics import correlation


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's rank correlation, equal values sharing their mean rank. NaN if either list has but one value."""
    if len(set(one)) < 2 or len(set(other)) < 2:
        return float("nan")
    return correlation(ranks(one), ranks(other))


def ranks(values: Sequence[float]) -> list[float]:
    """Places in ascending order, from 1."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    found = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for place in range(first, last + 1):
            found[order[place]] = (first + last) / 2 + 1
        first = last + 1
    return found
