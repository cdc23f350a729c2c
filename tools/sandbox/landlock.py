"""Landlock: from now on this process reaches only the files it is given. Needs no rights; Linux 5.13."""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress

from egg.tools.sandbox.linux import call

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ABI_VERSION = 1
PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
DEVICES = 1 << 6 | 1 << 11  # making character and block devices
FIRST = (1 << 13) - 1
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
READ = READ_FILE | READ_DIR
ALL = FIRST | REFER | TRUNCATE | IOCTL_DEV
SCRATCH = ALL & ~(DEVICES | EXECUTE | IOCTL_DEV)
DEVICE = READ_FILE | WRITE_FILE | IOCTL_DEV
TCP = 1 | 2  # bind, connect
SCOPES = 1 | 2  # abstract sockets, signals


def abi() -> int:
    """The version that the kernel has.

    Raises:
        OSError: it has none.
    """
    return call("syscall", CREATE_RULESET, None, ctypes.c_size_t(0), ABI_VERSION)


def restrict(rules: Iterable[tuple[str, int]], *, tcp: bool = False) -> None:
    """Allow these rights beneath these paths, and no others: no TCP unless `tcp`, no signals to others.

    Paths that do not exist are left out. Needs no_new_privs.

    Raises:
        OSError: the kernel refuses.
    """
    version = abi()
    handled = FIRST | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    handled |= IOCTL_DEV if version >= 5 else 0
    attributes = struct.pack("=QQQ", handled, TCP if version >= 4 and not tcp else 0, SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = call("syscall", CREATE_RULESET, ctypes.create_string_buffer(attributes), ctypes.c_size_t(size), 0)
    try:
        for path, rights in rules:
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                _allow(ruleset, path, rights & handled)
        call("syscall", RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= FOR_FILES
        if rights:
            rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, fd))
            call("syscall", ADD_RULE, ruleset, PATH_BENEATH, rule, 0)
    finally:
        os.close(fd)
