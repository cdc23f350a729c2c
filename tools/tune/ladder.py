"""The values worth a look for one parameter, around the one that it has."""

from collections.abc import Iterable

from egg.state.search import Value

WARPS = (1, 2, 4, 8, 16, 32)
STAGES = (1, 2, 3, 4, 5)
BOUNDS = {"BLOCK_M": (16, 256), "BLOCK_N": (16, 256), "BLOCK_K": (16, 128), "GROUP_M": (1, 16), "SPLITS": (2, 1024)}
"""Sides of a tile of a product (`tl.dot` takes no less than 16), tiles that share operands, parts of a row."""
PROPOSED_ONLY = frozenset(("pieces",))
"""Numbers whose other values mean another kernel."""
MOST = 1 << 16
REACH = 2
"""Steps of the ladder to each side."""


def ladder(name: str, now: Value, proposed: Iterable[Value]) -> tuple[Value, ...]:
    """In ascending order; only `now` where it is not known what else could be."""
    found = {now, *(value for value in proposed if type(value) is type(now))}
    if isinstance(now, bool):
        found |= {False, True}
    elif isinstance(now, int) and name not in PROPOSED_ONLY:
        found |= _numbers(name, now)
    return tuple(sorted(found, key=lambda value: (str(value) if isinstance(value, str) else "", value)))


def _numbers(name: str, now: int) -> set[int]:
    low = name.lower()
    if low.endswith("warps"):
        return _near(WARPS, now)
    if low.endswith("stages"):
        return _near(STAGES, now)
    if now < 1 or now & (now - 1):  # zero and what is no power of two have a meaning of their own
        return set()
    least, most = BOUNDS.get(name.upper(), (1, MOST))
    powers = tuple(1 << exponent for exponent in range(MOST.bit_length()) if least <= 1 << exponent <= most)
    return _near(powers, now)


def _near(values: tuple[int, ...], now: int) -> set[int]:
    if now not in values:
        return set()
    place = values.index(now)
    return set(values[max(0, place - REACH) : place + REACH + 1])
