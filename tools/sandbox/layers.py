"""The layers of the sandbox, strongest first, and which of them this machine has."""

import json
import os
from collections.abc import Sequence
from typing import Literal, NoReturn

from egg.tools.sandbox import landlock, namespaces, seccomp
from egg.tools.sandbox.capabilities import drop_all
from egg.tools.sandbox.linux import PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, prctl

Layer = Literal["namespaces", "network", "landlock", "view", "seccomp", "capabilities"]
LAYERS: tuple[Layer, ...] = ("namespaces", "network", "landlock", "view", "seccomp", "capabilities")
"""`network` is what is left of the namespaces where processes cannot have one; `view` mounts only what may be read, for
where there is no Landlock."""
ALONE: tuple[Layer, ...] = ("capabilities", "landlock", "seccomp")
"""Those that one process can try one after the other."""


def usable(allowed: Sequence[Layer]) -> tuple[tuple[Layer, ...], dict[Layer, str]]:
    """Of the allowed layers those that work here, without what a better one makes needless; why the others do not."""
    why: dict[Layer, str] = {layer: "switched off" for layer in LAYERS if layer not in allowed}
    tried = [layer for layer in ALONE if layer in allowed]
    why |= _tried(tried)
    if "namespaces" in allowed:
        why |= _tried(["namespaces"])
    if "network" in allowed and "namespaces" in why:
        why |= _tried(["network"])
    if "view" in allowed and "landlock" in why:
        why |= {"view": "needs namespaces"} if "namespaces" in why else _tried(["view"])
    better = {"network": "namespaces", "view": "landlock"}
    needless = {layer for layer, than in better.items() if than in allowed and than not in why}
    missing = {layer: reason for layer, reason in why.items() if layer not in needless}
    return tuple(layer for layer in LAYERS if layer not in why and layer not in needless), missing


def _tried(layers: Sequence[Layer]) -> dict[Layer, str]:
    """Why layers do not work, found out in a process that has no other use; empty if all do."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _report(writer, layers)
    os.close(writer)
    with open(reader, "rb") as file:
        said = dict(json.loads(line) for line in file)
    os.waitpid(pid, 0)
    reasons = {layer: said.get(layer, "the process that tried it died") for layer in layers}
    return {layer: reason for layer, reason in reasons.items() if reason}


def _report(writer: int, layers: Sequence[Layer]) -> NoReturn:
    try:
        for layer in layers:
            try:
                _try(layer)
                reason = ""
            except OSError as error:
                reason = str(error)
            os.write(writer, json.dumps([layer, reason]).encode() + b"\n")
    finally:
        os._exit(0)


def _try(layer: Layer) -> None:
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_DUMPABLE, 1)
    if layer == "network":
        namespaces.leave_network()
    elif layer == "landlock":
        landlock.restrict(())
    elif layer == "seccomp":
        seccomp.available()
        seccomp.restrict(programs=False, others_show=True)
    elif layer == "capabilities":
        drop_all()
    else:
        namespaces.leave_all()
        inner = os.fork()
        if inner == 0:
            os._exit(_world(layer))
        number = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
        if number:
            raise OSError(number, os.strerror(number), "mounting")


def _world(layer: Layer) -> int:
    """The errno of setting up what the first process of a new world sets up, or 0."""
    try:
        if layer == "view":
            namespaces.see_only(("/usr", "/dev/null"), (), namespaces.empty_root())
        else:
            namespaces.fresh_proc()
    except OSError as error:
        return error.errno or 1
    return 0
