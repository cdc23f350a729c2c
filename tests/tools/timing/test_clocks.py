"""Readings of the GPU's clocks: which rounds they spoil, what is told, and a machine that has none."""

from typing import Any

import pytest

from egg.tools.timing import conditions, nvml
from egg.tools.timing.interleave import Plan, sessions
from egg.tools.timing.measure import CANDIDATE, EAGER, Floors, conclude
from egg.tools.timing.nvml import Reader, Reading
from egg.tools.timing.sides import Side
from tests.tools.timed import candidate, job

FULL, SLOW = Reading(sm_mhz=1980, power_w=600), Reading(sm_mhz=1500, reasons=("power_cap",))
BRAKED = Reading(sm_mhz=1980, reasons=("power_brake",))


def test_a_round_with_a_slow_block_goes_whole() -> None:
    rounds = [[FULL, FULL], [FULL, SLOW], [FULL, FULL], [FULL, FULL]]
    assert conditions.steady(rounds) == ([True, False, True, True], "")


def test_the_hardwares_own_brake_counts_whatever_the_clock_says() -> None:
    assert conditions.steady([[FULL], [BRAKED], [FULL]])[0] == [True, False, True]


def test_too_few_left_is_said() -> None:
    kept, note = conditions.steady([[BRAKED], [BRAKED], [FULL]])
    assert kept == [True] * 3 and "held back in 2 of 3 rounds" in note


def test_no_reading_spoils_nothing() -> None:
    assert conditions.steady([[None, None], [None, FULL]]) == ([True, True], "")


def test_what_is_told() -> None:
    told = conditions.clocks([FULL, SLOW, None, FULL], "")
    assert told.sm_mhz and (told.sm_mhz.low, told.sm_mhz.median, told.sm_mhz.high) == (1500, 1980, 1980)
    assert told.power_w and told.power_w.low == 600 and told.temperature_c is None
    assert told.reasons == ("power_cap",) and told.readings == 3


def test_without_a_driver_there_is_a_note() -> None:
    assert nvml.reader(None).read() is None
    elsewhere = nvml.reader("GPU-00000000-0000-0000-0000-000000000000")
    assert elsewhere.read() is None and elsewhere.note


def test_a_session_throws_samples_away_and_counts_them() -> None:
    blocks = 0

    def read() -> Reading:
        nonlocal blocks
        blocks += 1
        return SLOW if blocks in (5, 6) else FULL  # before and after the third block, of round one

    sides = {EAGER: Side(), CANDIDATE: Side(source=candidate("return self.honest(x)"))}
    taken = sessions(job(reader=Reader(read)), sides, Plan(rounds=4, outputs=2))
    told = conclude(job(), taken, Floors()).conditions
    assert told.rounds == 3 and told.thrown_away > 0
    assert told.clocks.reasons == ("power_cap",) and told.clocks.readings == 16


class Driver:
    """The four calls of the driver's library, answering as a GPU under a power cap does."""

    def nvmlDeviceGetHandleByUUID(self, uuid: bytes, handle: Any) -> int:
        return 0 if uuid == b"GPU-1" else 6

    def nvmlDeviceGetClockInfo(self, handle: Any, which: Any, value: Any) -> int:
        value._obj.value = {nvml.SM: 1755, nvml.MEMORY: 3201}[which.value]
        return 0

    def nvmlDeviceGetPowerUsage(self, handle: Any, value: Any) -> int:
        value._obj.value = 698_500
        return 0

    def nvmlDeviceGetTemperature(self, handle: Any, which: Any, value: Any) -> int:
        return 3  # not supported

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: Any, value: Any) -> int:
        value._obj.value = 0x4 | 0x40
        return 0


def test_what_the_driver_answers_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml._handle.cache_clear()
    monkeypatch.setattr(nvml, "_library", Driver)
    assert nvml.reader("GPU-1").read() == Reading(1755, 3201, None, 698.5, ("power_cap", "hardware_thermal"))
    assert "returns 6" in nvml.reader("GPU-2").note
    nvml._handle.cache_clear()
