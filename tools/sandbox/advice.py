"""What a person can do for better isolation, from the reasons why a layer is missing."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path

RESTRICTED = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
MOST = Path("/proc/sys/user/max_user_namespaces")


def to_get_higher(reasons: Mapping[str, str]) -> str:
    """One line; empty if nothing is known that helps."""
    off = [layer for layer, reason in reasons.items() if reason == "switched off"]
    if off:
        return f"do not leave out {', '.join(off)}"
    said = [_namespaces()] if "namespaces" in reasons else []
    if "landlock" in reasons:
        said.append("use a kernel with Landlock (Linux 5.13 or newer, with lsm=landlock,... among its parameters)")
    return "; ".join(said)


def instead(level: int, asked: str, higher: str) -> str:
    """What to do when there is less than what was asked for; `higher` is how there would be more."""
    if platform.system() != "Linux":
        return "Use a Linux machine"
    lower = "auto" if level >= 2 else "partial" if level >= 1 else "none"
    accept = f"accept this level with EGG_ISOLATION={lower}"
    return f"To mend it: {higher}; or {accept}" if higher else f"Use another machine, or {accept}"


def _namespaces() -> str:
    if _first_digit(RESTRICTED) == "1" and os.geteuid():
        return "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"
    if _first_digit(MOST) == "0":
        return "sudo sysctl user.max_user_namespaces=10000"
    return (
        "in a container: docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined "
        "(which weakens the container itself; level 2 is fine for kernels that you would run anyway)"
    )


def _first_digit(file: Path) -> str:
    try:
        return file.read_text().strip()[:1]
    except OSError:
        return ""
