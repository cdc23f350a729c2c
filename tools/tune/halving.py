"""Successive halving: all survivors are timed for a moment, the better half for longer, the best few in new processes.

Every figure is a ratio to the kernel as it is, timed in the same turn, so that turns at different times compare. Each
is kept as soon as it is known: after a kill nothing is timed a second time.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import ceil
from time import perf_counter
from typing import Any, NamedTuple

from pydantic import Field

from egg.state.errors import MachineError
from egg.state.record import Record
from egg.tools.store import Store
from egg.tools.timing.brief import Stand, Times

VERSION = 1


class Rung(NamedTuple):
    """Rounds of a turn, and the part of the usual samples that a kernel has in them."""

    rounds: int
    share: float


RUNGS = (Rung(1, 0.1), Rung(2, 0.2), Rung(3, 0.4))
FINAL = Rung(8, 0.5)
KEPT = 0.5
"""Of the points, from one rung to the next."""
FINALISTS = 4


class Timed(Record):
    """One kernel's figures of one turn."""

    median_ms: float | None = None
    ratio: float | None = Field(None, description="To the kernel as it is, in the same turn; below 1 is faster")
    rounds: int = Field(0, description="Of the longest turn it took part in")
    failed: str = ""


class Final(Record):
    """The last comparison, by kernel id."""

    kernels: dict[str, Timed]


class Race(NamedTuple):
    """What is timed, and what it is kept by."""

    sources: Mapping[str, str]
    """By kernel id, the kernel as it is among them."""
    start: str
    key: dict[str, Any]
    """Problem, policy, GPU: whatever else decides a time."""
    at_once: int
    """Processes that the GPU and the host have room for."""


def halve(
    race: Race, order: Sequence[str], stand: Stand, store: Store, left: Callable[[], float]
) -> tuple[dict[str, Timed], list[str]]:
    """Figures of every kernel that was timed, and the finalists, best first, the kernel as it is among them.

    `order`: the others' ids, most promising first. When `left()`, the seconds that remain, runs out, the finalists are
    the best of what is known.

    Raises:
        MachineError: the kernel as it is, which has passed the judge, cannot be timed.
    """
    known: dict[str, Timed] = {}
    alive = list(order)
    with _held(race, alive, stand, store):
        for number, rung in enumerate(RUNGS):
            if len(alive) < FINALISTS or left() <= 0:
                break
            turn = _turn(race, alive, number, rung, stand, store, left)
            known |= turn
            alive = sorted((n for n in alive if _ratio(turn.get(n)) is not None), key=lambda n: (_ratio(turn[n]), n))
            alive = alive[: max(FINALISTS - 1, ceil(KEPT * len(alive)))]
    finalists = [race.start, *alive[: FINALISTS - 1]]
    final = _final(race, finalists, stand, store).kernels
    known |= final
    ran = [name for name in final if _ratio(final[name]) is not None]
    return known, sorted(ran, key=lambda name: (_ratio(final[name]), name != race.start, name))


def _held(race: Race, names: Sequence[str], stand: Stand, store: Store) -> AbstractContextManager[None]:
    """The GPU for all turns in a row, where all kernels fit at once and most are still to be timed."""
    new = [name for name in names if store.find("brief", _key(race, name, 0, RUNGS[0]), Timed) is None]
    if len(names) < FINALISTS or len(names) >= race.at_once or 2 * len(new) < len(names):
        return nullcontext()
    return stand.together({name: race.sources[name] for name in (race.start, *names)})


def _key(race: Race, name: str, number: int, rung: Rung) -> dict[str, Any]:
    return {**race.key, "source": race.sources[name], "beside": race.sources[race.start], "rung": [number, *rung]}


def _turn(
    race: Race, names: Sequence[str], number: int, rung: Rung, stand: Stand, store: Store, left: Callable[[], float]
) -> dict[str, Timed]:
    """One rung: what is not known yet is timed, in groups that fit, each beside the kernel as it is."""
    keys = {name: _key(race, name, number, rung) for name in names}
    found = {name: timed for name, key in keys.items() if (timed := store.find("brief", key, Timed)) is not None}
    missing = [name for name in names if name not in found]
    size = max(1, race.at_once - 1)
    for group in (missing[first : first + size] for first in range(0, len(missing), size)):
        if left() <= 0:
            break
        began = perf_counter()
        times = stand.times({name: race.sources[name] for name in (race.start, *group)}, *rung)
        each = (perf_counter() - began) / len(group)
        for name in group:
            found[name] = _timed(race, name, times, rung)
            if not found[name].failed:  # it may fit another time
                store.keep("brief", keys[name], found[name], each)
    return found


def _final(race: Race, finalists: Sequence[str], stand: Stand, store: Store) -> Final:
    """The best few once more, in new processes, with more rounds."""
    key = {**race.key, "finalists": [race.sources[name] for name in finalists], "rung": list(FINAL)}
    if (kept := store.find("final", key, Final)) is not None:
        return kept
    began = perf_counter()
    stand.close()
    times = stand.times({name: race.sources[name] for name in finalists}, *FINAL)
    final = Final(kernels={name: _timed(race, name, times, FINAL) for name in finalists})
    if not any(timed.failed for timed in final.kernels.values()):
        store.keep("final", key, final, perf_counter() - began)
    return final


def _timed(race: Race, name: str, times: Times, rung: Rung) -> Timed:
    if race.start not in times.median_ms:
        why = times.failed.get(race.start, "no reason was given")
        raise MachineError(f"the kernel to start from, {race.start}, cannot be timed: {why}")
    if name not in times.median_ms:
        return Timed(failed=times.failed.get(name, "it was not timed")[:200])
    ms = times.median_ms[name]
    return Timed(median_ms=ms, ratio=ms / times.median_ms[race.start], rounds=rung.rounds)


def _ratio(timed: Timed | None) -> Any:
    return timed.ratio if timed else None
