"""The layers of the sandbox, strongest first, and which of them this machine has."""

import os
from collections.abc import Callable, Sequence
from typing import Literal, NoReturn

from egg.tools.sandbox import landlock, namespaces, seccomp
from egg.tools.sandbox.capabilities import drop_all
from egg.tools.sandbox.linux import PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, prctl

Layer = Literal["namespaces", "network", "landlock", "view", "seccomp", "capabilities"]
LAYERS: tuple[Layer, ...] = ("namespaces", "network", "landlock", "view", "seccomp", "capabilities")
"""`network` is what is left of the namespaces where processes cannot have one; `view` mounts only what may be read, for
where there is no Landlock."""


def usable(allowed: Sequence[Layer]) -> tuple[tuple[Layer, ...], dict[Layer, str]]:
    """Of the allowed layers those that work here, without what a better one makes needless; why the others do not."""
    have: list[Layer] = []
    why: dict[Layer, str] = {}
    for layer in LAYERS:
        if layer not in allowed:
            why[layer] = "switched off"
            continue
        if (layer == "network" and "namespaces" in have) or (layer == "view" and "landlock" in have):
            continue
        if layer == "view" and "namespaces" not in have:
            why[layer] = "needs namespaces"
            continue
        if reason := _tried(layer):
            why[layer] = reason
        else:
            have.append(layer)
    return tuple(have), why


def _tried(layer: Layer) -> str:
    """Why a layer does not work, found out in a process that has no other use; empty if it does."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _report(writer, lambda: _try(layer))
    os.close(writer)
    with open(reader, "rb") as file:
        said = file.read().decode(errors="replace")
    os.waitpid(pid, 0)
    return said.removesuffix("ok") if said else "the process that tried it died"


def _report(writer: int, attempt: Callable[[], None]) -> NoReturn:
    try:
        attempt()
        os.write(writer, b"ok")
    except OSError as error:
        os.write(writer, str(error).encode())
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
            namespaces.see_only(("/usr", "/dev/null"), (), os.environ["HOME"])
        else:
            namespaces.fresh_proc()
    except OSError as error:
        return error.errno or 1
    return 0
