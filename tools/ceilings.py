"""How fast this machine's GPU is at best, measured once; what its datasheet says, for any other.

They are for comparing kernels with. The judge's floors, below which a time is no time, stay with the datasheet: what a
simple kernel reached is no bound on what a better one may reach.
"""

from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from egg.state.ceilings import PRECISIONS, Ceilings
from egg.state.device import Device
from egg.state.errors import MachineError
from egg.tools.errors import CandidateError
from egg.tools.estimate import CACHE_PER_SM
from egg.tools.exclusive import exclusive
from egg.tools.sandbox.client import Bounds, run
from egg.tools.store import Store, default_cache

VERSION = 2
TASK = "egg.tools.tasks.ceilings:measure"
BOUNDS = Bounds(seconds=240, memory_bytes=64 << 30)
PATIENCE_S = 600.0


def ceilings(device: Device) -> Ceilings:
    """Measured on the GPU that is here, kept by its UUID, driver and software; the datasheet's for one that is not.

    A GPU that cannot be measured just now gets the datasheet's too, and `how` says why; it is tried again by the next
    process.

    Raises:
        UserError: this machine does not offer the isolation that is asked for.
    """
    if not device.present:
        return of_datasheet(device)
    return _once(device.model_dump_json(), default_cache())


def of_datasheet(device: Device, why: str = "") -> Ceilings:
    """What is promised, which no kernel quite reaches."""
    matrix = dict(device.peak)
    matrix["tf32x3"] = max(matrix.get("tf32", 0.0) / 3, matrix.get("fp32", 0.0))
    return Ceilings(
        copy_rate=device.bandwidth,
        read_rate=device.bandwidth,
        l2_rate=device.multiprocessors * CACHE_PER_SM,
        matrix={name: matrix[name] for name in PRECISIONS if matrix.get(name)},
        measured=False,
        how="; ".join(part for part in (f"{device.rates_from} of {device.name}", why) if part),
    )


@cache
def _once(device_json: str, folder: Path) -> Ceilings:
    device = Device.model_validate_json(device_json)
    key = {"gpu": [device.uuid, device.driver, device.software], "version": VERSION}
    store = Store(cache=folder)

    def measured() -> Ceilings:
        with exclusive(device, PATIENCE_S):  # somebody else may have measured while this one waited
            return store.find("ceilings", key, Ceilings) or _measured(device)

    try:
        return store.get("ceilings", key, Ceilings, measured)
    except MachineError as error:
        return of_datasheet(device, f"not measured: {_line(error)}")


def _measured(device: Device) -> Ceilings:
    reply = run(TASK, {"l2_bytes": device.l2_bytes, "memory_bytes": device.memory_bytes}, BOUNDS)
    try:
        return read(reply.require("measuring the ceilings"))
    except CandidateError as error:
        raise MachineError(str(error)) from error


def read(told: dict[str, Any]) -> Ceilings:
    """The answer of the measuring child.

    Raises:
        MachineError: it makes no sense.
    """
    try:
        missing = "; ".join(f"{name}: {why}" for name, why in told["missing"].items())
        rates = {str(name): float(rate) for name, rate in told["matrix"].items()}
        how = f"measured on it in {told['seconds']:.1f} s, the best of {told['repeats']} runs each"
        return Ceilings(
            copy_rate=told["copy"],
            read_rate=told["read"],
            l2_rate=told["l2"],
            matrix={name: rates[name] for name in PRECISIONS if 0 < rates.get(name, 0.0) < inf},
            measured=True,
            how=f"{how}; without {missing}" if missing else how,
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise MachineError(f"measuring the ceilings: {_line(error)}") from error


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
