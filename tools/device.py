"""The GPU a run is for: the one in this machine, or one that is only compiled for."""

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any

from egg.state.device import Device
from egg.state.errors import UserError
from egg.tools import datasheet
from egg.tools.sandbox.client import Bounds, run

PROBE = Bounds(seconds=120, memory_bytes=16 << 30)


def detect_device(target: str | None) -> Device:
    """This machine's GPU if it is `target` or no target is named; else the target's product, not present.

    Raises:
        UserError: unknown target, or a GPU that PyTorch here cannot use and no target to compile for.
    """
    if target is not None and target not in datasheet.LIMITS:
        raise UserError(f"unknown target {target!r}; known: {', '.join(datasheet.LIMITS)}")
    if _has_nvidia_driver():
        facts = _probe()
        if facts["usable"] and target in (None, facts["target"]):
            return _present(facts)
        if target is None and not facts["usable"]:
            raise UserError(f"this machine's GPU cannot be used: {facts['reason']}; mend that, or pass --target sm_90")
    return _absent(target or "sm_90")


def _has_nvidia_driver() -> bool:
    return any(Path(node).exists() for node in ("/dev/nvidiactl", "/dev/dxg"))


@cache
def _probe() -> dict[str, Any]:
    reply = run("egg.tools.tasks.gpu:properties", {}, PROBE)
    if reply.state != "done":
        return {"usable": False, "reason": f"probing it ended with {reply.state}: {_last_line(reply.error)}"}
    return reply.value


def _present(facts: dict[str, Any]) -> Device:
    limits = datasheet.LIMITS.get(facts["target"])
    if limits is None:
        raise UserError(f"{facts['name']} ({facts['target']}) is not supported; known: {', '.join(datasheet.LIMITS)}")
    own = datasheet.of_name(facts["name"], facts["target"])
    sheet = own or datasheet.of_target(facts["target"])
    share = 1.0 if own else facts["multiprocessors"] / sheet.multiprocessors
    return Device(
        name=facts["name"],
        target=facts["target"],
        present=True,
        uuid=facts["uuid"],
        driver=_driver_version(),
        multiprocessors=facts["multiprocessors"],
        shared_bytes=facts["shared_bytes"] or limits.shared_bytes,
        shared_bytes_sm=facts["shared_bytes_sm"] or limits.shared_bytes_sm,
        registers_sm=facts["registers_sm"] or limits.registers_sm,
        threads_sm=facts["threads_sm"] or limits.threads_sm,
        blocks_sm=limits.blocks_sm,
        l2_bytes=facts["l2_bytes"] or sheet.l2_bytes,
        memory_bytes=facts["memory_bytes"],
        bandwidth=sheet.bandwidth * share,
        peak=datasheet.peaks(sheet, share),
        rates_from="datasheet" if own else f"datasheet of {sheet.name}, scaled by multiprocessors",
        software=_software() | {"cuda": facts["cuda"]},
    )


def _absent(target: str) -> Device:
    limits, sheet = datasheet.LIMITS[target], datasheet.of_target(target)
    return Device(
        name=sheet.name,
        target=target,
        present=False,
        multiprocessors=sheet.multiprocessors,
        l2_bytes=sheet.l2_bytes,
        memory_bytes=sheet.memory_bytes,
        bandwidth=sheet.bandwidth,
        peak=datasheet.peaks(sheet),
        rates_from="datasheet",
        software=_software(),
        **limits._asdict(),
    )


def _software() -> dict[str, str]:
    return {"python": python_version(), "torch": _version("torch"), "triton": _version("triton")}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError as missing:
        raise UserError(f"{package} is not installed; install it with: pip install {package}") from missing


def _driver_version() -> str | None:
    report = Path("/proc/driver/nvidia/version")
    found = re.search(r"\b(\d{3}\.\d+(?:\.\d+)?)\b", report.read_text()) if report.exists() else None
    return found.group(1) if found else None


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]
