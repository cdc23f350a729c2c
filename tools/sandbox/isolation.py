"""Which level of isolation children get here, and whether that is enough.

`EGG_ISOLATION` says what is asked for: `auto` (the best there is, at least `filtered`), `strong`, `partial` (the best
there is, at least `partial`) or `none` (no layer at all: limits, a closed environment and an end on time). Below what
is asked for nothing is run. `EGG_ISOLATION_WITHOUT` names layers to leave out, with commas between them.
"""

import os
import sys
import threading
from time import perf_counter
from typing import NamedTuple

from egg.state.errors import UserError
from egg.state.isolation import NAMES, Aspect, Isolation
from egg.tools.sandbox import advice
from egg.tools.sandbox.layers import LAYERS
from egg.tools.sandbox.linux import PR_SET_DUMPABLE, prctl
from egg.tools.sandbox.pool import warm
from egg.tools.sandbox.probe import Broken, attacked
from egg.tools.sandbox.watch import SECONDS

VARIABLE, WITHOUT = "EGG_ISOLATION", "EGG_ISOLATION_WITHOUT"
LEAST = {"auto": 2, "strong": 3, "partial": 1, "none": 0}
"""Level below which nothing is run."""


class Found(NamedTuple):
    """What probing found: the record, and the layers that every child gets from now on."""

    isolation: Isolation
    layers: tuple[str, ...]


_lock = threading.Lock()
_found: dict[tuple[int, bool, tuple[str, ...]], Found] = {}


def isolation(*, interpret: bool) -> Isolation:
    """The level in force for children of one mode (with Triton's interpreter, or for compiling and the GPU).

    Found out by attack, once for each process and mode.

    Raises:
        UserError: `EGG_ISOLATION` says what it cannot.
        MachineError: no child can be started.
    """
    return _probed(interpret).isolation


def in_force(interpret: bool) -> tuple[str, ...]:
    """The layers of every child of this mode.

    Raises:
        UserError: they are fewer than what is asked for.
        MachineError: no child can be started.
    """
    asked = _asked()
    found = _probed(interpret)
    level = found.isolation.level
    if level < LEAST[asked]:
        reasons = "; ".join(found.isolation.missing)
        wanted = f"{VARIABLE}={asked} needs level {LEAST[asked]} ({NAMES[LEAST[asked]]})"
        raise UserError(
            f"this machine isolates candidates at level {level} ({NAMES[level]}), {wanted}: {reasons}. "
            f"{advice.instead(level, asked, found.isolation.advice)}"
        )
    return found.layers


def probe_afresh(interpret: bool) -> float:
    """Seconds that finding it out takes, once the warm process is there; changes nothing."""
    allowed = _allowed()
    began = perf_counter()
    _probe(interpret, allowed)
    return perf_counter() - began


def _asked() -> str:
    asked = os.environ.get(VARIABLE) or "auto"
    if asked not in LEAST:
        raise UserError(f"{VARIABLE}={asked}: use one of {', '.join(LEAST)}")
    return asked


def _allowed() -> tuple[str, ...]:
    if _asked() == "none":
        return ()
    left_out = {name for name in os.environ.get(WITHOUT, "").split(",") if name}
    if unknown := left_out - set(LAYERS):
        raise UserError(f"{WITHOUT}: no layer {', '.join(sorted(unknown))}; there are {', '.join(LAYERS)}")
    return tuple(layer for layer in LAYERS if layer not in left_out)


def _probed(interpret: bool) -> Found:
    allowed = _allowed()
    key = (os.getpid(), interpret, allowed)
    with _lock:
        if key not in _found:
            _found[key] = _probe(interpret, allowed)
        return _found[key]


def _probe(interpret: bool, allowed: tuple[str, ...]) -> Found:
    if sys.platform != "linux":
        told = Isolation(level=0, name="none", missing=(f"{sys.platform} has none of the layers: it is not Linux",))
        return Found(told, ())
    zygote = warm(interpret)
    layers, reasons = zygote.layers(allowed)
    if _asked() == "partial" and not {"landlock", "namespaces"} & set(layers):
        prctl(PR_SET_DUMPABLE, 0)  # else a child of the same user could write to the memory of this very process
    broken = attacked(zygote, layers, interpret=interpret)
    level = _level(layers, broken)
    through = {what: names for what, names in broken._asdict().items() if names}
    missing = (
        *(f"{layer}: {reason}" for layer, reason in reasons.items()),
        *(f"{what} is open: {', '.join(names)}" for what, names in through.items()),
    )
    told = Isolation(
        level=level,
        name=NAMES[level],
        aspects=tuple(_aspects(layers, broken, interpret)),
        missing=missing,
        advice="" if level == 3 else advice.to_get_higher(reasons),
    )
    return Found(told, layers)


def _level(layers: tuple[str, ...], broken: Broken) -> int:
    """What the attack could not do decides; the layers only tell the third level from the second."""
    if any((broken.network, broken.others, broken.processes, broken.environment)):
        return 0
    if broken.read or broken.write:
        return 1
    return 3 if {"namespaces", "landlock", "seccomp", "capabilities"} <= set(layers) else 2


def _aspects(layers: tuple[str, ...], broken: Broken, interpret: bool) -> list[Aspect]:
    have = set(layers)
    files = "landlock" if "landlock" in have else "mount namespace" if "view" in have else ""
    world = "process namespace" if "namespaces" in have else ""
    network = "network namespace" if have & {"namespaces", "network"} else ""
    filter_ = "seccomp" if "seccomp" in have else ""
    powers = "no capabilities" if "capabilities" in have else ""
    swept = world or "orphans are adopted and swept"
    alone = counted = f"counted every {SECONDS:g} s"
    if interpret and filter_:
        alone = f"none can be started where it is run (seccomp); {counted} where its kernels are recorded"
    pages = "RLIMIT_AS" if interpret else "RLIMIT_DATA"
    how = {
        "network": _joined(network, filter_, "landlock" if "landlock" in have else ""),
        "read": _joined(files and f"allow-list by {files}"),
        "write": _joined(files and f"own folder only, by {files}", filter_),
        "others": _joined(world, filter_, "landlock" if "landlock" in have else "", powers),
        "processes": f"{alone}; killed with all it started ({swept})",
        "memory": f"{pages} for each, the tree counted every {SECONDS:g} s; no cgroup",
        "disk": f"RLIMIT_FSIZE for each file, all of them counted every {SECONDS:g} s",
        "output": "counted by its reader, who ends the child",
        "environment": "an allow-list of variables",
    }
    return [Aspect(what=what, how=text, verified=not getattr(broken, what)) for what, text in how.items()]


def _joined(*means: str) -> str:
    return ", ".join(part for part in means if part) or "nothing"
