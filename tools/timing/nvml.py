"""What the NVIDIA driver says of a GPU's clocks, temperature and power. Reads only; nothing is ever set.

Through the driver's own library (nvml.h), so that no package is needed. Where it is missing or will not answer, there
is no reading, and a note says why.
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

LIBRARY = "libnvidia-ml.so.1"
SM, MEMORY = 1, 2
GPU_TEMPERATURE = 0
REASONS = {
    0x1: "idle",
    0x2: "application_clocks",
    0x4: "power_cap",
    0x8: "hardware_slowdown",
    0x10: "sync_boost",
    0x20: "thermal",
    0x40: "hardware_thermal",
    0x80: "power_brake",
    0x100: "display_clocks",
}
"""Bits of nvmlClocksEventReasons."""
HARDWARE = frozenset(("hardware_slowdown", "hardware_thermal", "power_brake"))
"""Reasons for which the hardware itself cuts the clock, by half or more."""


@dataclass(frozen=True)
class Reading:
    """One moment. None for what the driver does not tell."""

    sm_mhz: float | None = None
    memory_mhz: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reader:
    """Reads one GPU, or says why it cannot."""

    read: Callable[[], Reading | None]
    note: str = ""


def reader(uuid: str | None) -> Reader:
    """For the GPU of this UUID, as `nvidia-smi -L` spells it."""
    if not uuid:
        return Reader(lambda: None, "the GPU's UUID is not known")
    try:
        handle = _handle(uuid)
    except OSError as error:
        return Reader(lambda: None, f"clocks are not read: {error}")
    return Reader(lambda: _read(handle))


@cache
def _library() -> Any:
    library = ctypes.CDLL(LIBRARY)
    if code := library.nvmlInit_v2():
        raise OSError(f"nvmlInit_v2 returns {code}")
    return library


@cache
def _handle(uuid: str) -> ctypes.c_void_p:
    handle = ctypes.c_void_p()
    if code := _library().nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(handle)):
        raise OSError(f"nvmlDeviceGetHandleByUUID returns {code} for {uuid}")
    return handle


def _read(handle: ctypes.c_void_p) -> Reading:
    watts = _ask("nvmlDeviceGetPowerUsage", ctypes.c_uint, handle)
    bits = _ask("nvmlDeviceGetCurrentClocksThrottleReasons", ctypes.c_ulonglong, handle)
    return Reading(
        sm_mhz=_ask("nvmlDeviceGetClockInfo", ctypes.c_uint, handle, SM),
        memory_mhz=_ask("nvmlDeviceGetClockInfo", ctypes.c_uint, handle, MEMORY),
        temperature_c=_ask("nvmlDeviceGetTemperature", ctypes.c_uint, handle, GPU_TEMPERATURE),
        power_w=None if watts is None else watts / 1000,
        reasons=tuple(name for bit, name in REASONS.items() if bits is not None and int(bits) & bit),
    )


def _ask(name: str, type_: Any, handle: ctypes.c_void_p, *which: int) -> float | None:
    function = getattr(_library(), name, None)
    value = type_()
    if function is None or function(handle, *(ctypes.c_uint(number) for number in which), ctypes.byref(value)):
        return None
    return float(value.value)
