"""The one place where a child gives up its rights, before any unread code is loaded. The order matters."""

import os
from collections.abc import Sequence

from egg.tools.sandbox import landlock, namespaces, seccomp
from egg.tools.sandbox.capabilities import drop_all
from egg.tools.sandbox.files import OWN_WORLD, reachable
from egg.tools.sandbox.layers import Layer
from egg.tools.sandbox.limits import interpreting, limit
from egg.tools.sandbox.linux import PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, prctl
from egg.tools.sandbox.records import Bounds


def confine(bounds: Bounds, layers: Sequence[Layer]) -> None:
    """Make the calling process the leader of its own group, limited, and shut in by each of the layers.

    Raises:
        OSError: a layer that was said to work does not.
    """
    programs, own_world = not interpreting(), "namespaces" in layers
    own_view = own_world and bounds.view
    os.setsid()
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_DUMPABLE, 1)  # else /proc/self belongs to root: no user namespace, and no CUDA
    if "network" in layers:
        namespaces.leave_network()
    if not own_world:
        adopt_orphans()
    limit(bounds, interpret=not programs)
    if "capabilities" in layers:
        drop_all()
    prctl(PR_SET_DUMPABLE, 1)  # giving up rights takes it away again
    if "landlock" in layers:
        files = reachable(bounds.folder or "/", bounds.reads, programs=programs, own_proc=own_world, runs=bounds.runs)
        execute = landlock.EXECUTE if programs else 0
        landlock.restrict(
            [
                *((path, landlock.READ | execute) for path in files.run),
                *((path, landlock.READ) for path in files.read),
                *((path, landlock.DEVICE) for path in files.devices),
                *((path, landlock.SCRATCH) for path in files.write),
                *((path, landlock.SCRATCH) for path in OWN_WORLD if own_view),
            ],
            tcp=own_world and "tcp" in bounds.grants,
        )
    if "seccomp" in layers:
        seccomp.restrict(programs=programs, others_show=not own_world, grants=bounds.grants)


def adopt_orphans() -> None:
    """Make the calling process the parent of every descendant whose own parent dies, so that none can hide."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
