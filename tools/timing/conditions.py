"""Which rounds of a measurement count, and what is told of its circumstances."""

from collections.abc import Iterable, Sequence
from statistics import median

from egg.state.conditions import Clocks, Spread
from egg.tools.timing.nvml import HARDWARE, Reading

SLOW_SHARE = 0.9
"""Of the run's median clock. A round with a block below it is thrown away."""
LEAST_SHARE = 0.5
"""Of the rounds. Where fewer would be left, all are kept: a GPU that is always held back has no better time."""

Rounds = Sequence[Sequence[Reading | None]]
"""Readings of a session's blocks, by round."""


def steady(rounds: Rounds) -> tuple[list[bool], str]:
    """Which rounds to keep, and a note if the clock was too unsteady to choose.

    A round goes whole, all sides of it: they are compared with each other, in mirrored order.
    """
    clocks = [reading.sm_mhz for turn in rounds for reading in turn if reading and reading.sm_mhz]
    if not clocks:
        return [True] * len(rounds), ""
    least = SLOW_SHARE * median(clocks)
    kept = [all(_good(reading, least) for reading in turn) for turn in rounds]
    if sum(kept) < LEAST_SHARE * len(rounds):
        held = len(rounds) - sum(kept)
        return [True] * len(rounds), f"the GPU's clock was held back in {held} of {len(rounds)} rounds; all are kept"
    return kept, ""


def clocks(readings: Iterable[Reading | None], note: str) -> Clocks:
    """All readings of a measurement, summed up."""
    seen = [reading for reading in readings if reading]
    return Clocks(
        sm_mhz=spread(reading.sm_mhz for reading in seen),
        memory_mhz=spread(reading.memory_mhz for reading in seen),
        temperature_c=spread(reading.temperature_c for reading in seen),
        power_w=spread(reading.power_w for reading in seen),
        reasons=tuple(sorted({reason for reading in seen for reason in reading.reasons} - {"idle"})),
        readings=len(seen),
        note=note,
    )


def spread(values: Iterable[float | None]) -> Spread | None:
    """Of those that are known; None if none is."""
    known = [value for value in values if value is not None]
    return Spread(low=min(known), median=median(known), high=max(known)) if known else None


def _good(reading: Reading | None, least: float) -> bool:
    if reading is None or reading.sm_mhz is None:
        return True
    return reading.sm_mhz >= least and not HARDWARE & set(reading.reasons)
