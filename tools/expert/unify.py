"""Two traces, one source: a number that differs between them becomes an expression in run-time quantities."""

import math
from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement, permutations
from typing import NamedTuple


class Source(NamedTuple):
    """Something the program can read when it runs, and what it is in either trace."""

    text: str
    full: float
    small: float


def express(full: float, small: float, sources: Iterable[Source], last_resort: Iterable[Source] = ()) -> str | None:
    """A Python expression that is `full` at full size and `small` at small size; None if none is found.

    A literal where both agree: the simplest reading of a number that did not follow the sizes. `last_resort` joins the
    `sources` where they do not suffice.
    """
    known, more = list(sources), list(last_resort)
    text = _express(full, small, known)
    return _express(full, small, [*known, *more]) if text is None and more else text


def _express(full: float, small: float, sources: list[Source]) -> str | None:
    if full == small and type(full) is type(small):
        return literal(full)
    known = list(dict.fromkeys(sources))
    for source in known:
        if (source.full, source.small) == (full, small):
            return source.text
    if isinstance(full, int) and isinstance(small, int):
        return _whole(full, small, _distinct(known))
    return _root(full, small, _distinct(known))


def literal(number: float | bool | None) -> str:
    """Python source of a number; infinities and NaN by name of `float`."""
    if isinstance(number, float) and not math.isfinite(number):
        return f'float("{number}")'
    return repr(number)


def _distinct(sources: Sequence[Source]) -> list[Source]:
    """Whole numbers that differ between the traces or are worth multiplying by; the first text for each pair."""
    first: dict[tuple[float, float], Source] = {}
    for source in sources:
        if isinstance(source.full, int) and (source.full, source.small) != (1, 1):
            first.setdefault((source.full, source.small), source)
    return list(first.values())


def _whole(full: int, small: int, sources: list[Source]) -> str | None:
    for text, a, b in sources:
        if a and b and full % a == 0 and small % b == 0 and full // a == small // b:
            return f"{text} * {full // a}"
        if full and small and a % full == 0 and b % small == 0 and a // full == b // small:
            return f"{text} // {int(a // full)}"
    for text, a, b in sources:
        if a != b and full - a == small - b and abs(full - a) <= 8:
            return f"{text} {'+' if full > a else '-'} {abs(int(full - a))}"
    for one, other in combinations_with_replacement(sources, 2):
        if one.full * other.full == full and one.small * other.small == small:
            return f"{one.text} * {other.text}"
    for one, other in permutations(sources, 2):
        if other.small and (one.full / other.full, one.small / other.small) == (full, small):
            return f"{one.text} // {other.text}"
    for one, other in combinations_with_replacement(sources, 2):
        for third in sources:
            if (one.full * other.full, one.small * other.small) == (full * third.full, small * third.small):
                return f"{one.text} * {other.text} // {third.text}"
    for x, y, z in combinations_with_replacement(sources, 3):
        if x.full * y.full * z.full == full and x.small * y.small * z.small == small:
            return f"{x.text} * {y.text} * {z.text}"
    return None


def _root(full: float, small: float, sources: list[Source]) -> str | None:
    """Scales: powers of a whole number, as attention and means use them."""
    for power in (-0.5, -1.0, 0.5, 2.0, -2.0):
        if full <= 0 or small <= 0:
            break
        a, b = full ** (1 / power), small ** (1 / power)
        if not (_near_whole(a) and _near_whole(b)):
            continue
        if base := express(round(a), round(b), sources):
            return f"({base}) ** {power}" if power != -1.0 else f"1.0 / ({base})"
    return None


def _near_whole(number: float) -> bool:
    return number >= 1 and abs(number - round(number)) < 1e-6 * number
