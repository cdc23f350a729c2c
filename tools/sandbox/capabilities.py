"""Give up root's powers, for good: what a process cannot use, no code in it can."""

import ctypes
import struct

from egg.tools.sandbox.linux import PR_CAPBSET_DROP, call, prctl

VERSION_3 = 0x20080522
HIGHEST = 63


def drop_all() -> None:
    """Empty every set of capabilities of the calling process; the bounding set too where that is allowed."""
    for capability in range(HIGHEST + 1):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:  # beyond the kernel's last one, or there is no right to: then there are none to drop either
            break
    header = ctypes.create_string_buffer(struct.pack("=Ii", VERSION_3, 0))
    call("capset", header, ctypes.create_string_buffer(bytes(24)))
