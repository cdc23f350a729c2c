"""Namespaces: a child that sees no process, network or shared memory but its own. Needs user namespaces, or root."""

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from egg.tools.sandbox.linux import call

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
NOSUID, NODEV, NOEXEC, BIND, RECURSIVE, PRIVATE, REMOUNT, READ_ONLY = 2, 4, 8, 4096, 16384, 1 << 18, 32, 1
DETACH = 2
MOUNT_SETATTR, PIVOT_ROOT = 442, {"x86_64": 155, "aarch64": 41}
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
GET_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 1
ROOM = "64m"
"""Of the empty folders, together; it is memory."""
PROC_WRITABLE = ("sys", "sysrq-trigger", "irq", "bus", "fs")
"""What a process of root's might change in its own /proc even without capabilities."""


def leave_network() -> None:
    """New user, network, IPC and host name namespaces for the calling process.

    Raises:
        OSError: this machine does not allow it.
    """
    _unshare(NEWUSER | NEWNET | NEWIPC | NEWUTS)


def leave_all() -> None:
    """All of them; children that are forked from now on live in a new world of processes, the first as its init.

    Raises:
        OSError: this machine does not allow it.
    """
    _unshare(NEWUSER | NEWNET | NEWIPC | NEWUTS | NEWPID | NEWNS)
    mount(None, "/", None, RECURSIVE | PRIVATE)


def raise_loopback() -> None:
    """Let processes of the new network reach each other; nobody else is in it. Called before rights are given up.

    Raises:
        OSError: the kernel refuses.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(end, GET_FLAGS, request))[1]
        fcntl.ioctl(end, SET_FLAGS, struct.pack("16sh14x", b"lo", flags | UP))


def fresh_proc(at: str = "/proc") -> None:
    """A /proc that shows the new world: with the old one, CUDA does not start. Called by its init.

    Raises:
        OSError: parts of the old one are hidden, as in a container; the kernel then refuses a new one.
    """
    mount("proc", at, "proc", NOSUID | NODEV | NOEXEC)


def see_only(readable: Iterable[str], writable: Iterable[str], root: str, empty: Iterable[str] = ()) -> None:
    """Replace the file system by these paths, mounted on the empty folder `root`, `empty` ones and a fresh /proc.

    Raises:
        OSError: the kernel refuses.
    """
    mount("tmpfs", root, "tmpfs", NOSUID | NODEV, f"size={ROOM},mode=755")
    for path in dict.fromkeys(readable):
        if path != "/proc" and os.path.exists(path):
            _bind(path, root, read_only=True)
    for path in ("/proc", *empty):
        os.makedirs(f"{root}{path}", exist_ok=True)
    fresh_proc(f"{root}/proc")
    for name in PROC_WRITABLE:
        if os.path.exists(f"{root}/proc/{name}"):
            mount(f"{root}/proc/{name}", f"{root}/proc/{name}", None, BIND | RECURSIVE)
            _make_read_only(f"{root}/proc/{name}")
    for path in dict.fromkeys(writable):
        if os.path.exists(path):
            _bind(path, root, read_only=False)
    os.chdir(root)
    call("syscall", PIVOT_ROOT[os.uname().machine], b".", b".")
    call("umount2", b".", DETACH)
    os.chdir("/")


def empty_root() -> str:
    """A folder to mount a file system on that shows only some paths; seen so by those who mount, empty for others."""
    root = os.path.join(os.environ["HOME"], "root")
    os.makedirs(root, exist_ok=True)
    return root


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """The system call of that name."""
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    call("mount", *texts[:3], ctypes.c_ulong(flags), texts[3])


def _unshare(flags: int) -> None:
    uid, gid = os.geteuid(), os.getegid()
    call("unshare", flags)
    # The same numbers inside as outside, so that who owns which file does not change.
    with suppress(FileNotFoundError):
        Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def _bind(path: str, root: str, *, read_only: bool) -> None:
    target = root + os.path.abspath(path)
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target):
            Path(target).touch()
    mount(path, target, None, BIND | RECURSIVE)
    if read_only:
        _make_read_only(target)


def _make_read_only(target: str) -> None:
    attributes = ctypes.create_string_buffer(struct.pack("=QQQQ", READ_ONLY | NOSUID, 0, 0, 0))
    size = ctypes.c_size_t(32)
    try:
        call("syscall", MOUNT_SETATTR, AT_FDCWD, os.fsencode(target), AT_RECURSIVE, attributes, size)
    except OSError:  # before Linux 5.12: this mount alone, with the flags that it has and may not lose
        inherited = os.statvfs(target).f_flag & (NOSUID | NODEV | NOEXEC)
        mount(None, target, None, REMOUNT | BIND | READ_ONLY | inherited)
