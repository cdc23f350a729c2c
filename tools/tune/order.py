"""Which point to look at next: the expert's own proposals, then outwards from the best so far."""

from collections import deque
from collections.abc import Collection, Iterator, Sequence

from egg.state.search import Parameter, SearchSpace, Value, Values

Key = tuple[Value, ...]


def key_of(space: SearchSpace, values: Values) -> Key:
    """A point's values in the order of the space's parameters."""
    return tuple(values[parameter.name] for parameter in space.parameters)


def steps(space: SearchSpace, values: Values) -> Iterator[Values]:
    """The points one step away: a number's neighbours on its ladder, any other value of what has no order."""
    for parameter in space.parameters:
        for value in _beside(parameter, values[parameter.name]):
            yield {**values, parameter.name: value}


def outwards(space: SearchSpace, centre: Values) -> Iterator[Values]:
    """Every point that steps lead to, nearest first, the centre itself included."""
    waiting, met = deque([centre]), {key_of(space, centre)}
    while waiting:
        values = waiting.popleft()
        yield values
        for other in steps(space, values):
            if (key := key_of(space, other)) not in met:
                met.add(key)
                waiting.append(other)


def following(
    space: SearchSpace, best: Values, hints: Sequence[Values], seen: Collection[Key], count: int, *, near: bool
) -> list[Values]:
    """At most `count` points that were not seen: hints first, then outwards from the best.

    `near` keeps to single steps, so that a search ends where no step is an improvement.
    """
    found: list[Values] = []
    met = set(seen)
    for values in (*hints, *(steps(space, best) if near else outwards(space, best))):
        if len(found) == count:
            break
        if (key := key_of(space, values)) not in met:
            met.add(key)
            found.append(values)
    return found


def _beside(parameter: Parameter, now: Value) -> Sequence[Value]:
    values = parameter.values
    if now not in values or not all(type(value) is int for value in values):
        return [value for value in values if value != now]
    place = values.index(now)
    return [values[other] for other in (place + 1, place - 1) if 0 <= other < len(values)]
