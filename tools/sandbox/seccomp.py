"""Which system calls a child may not make. A deny-list: PyTorch and CUDA need too much for the other way round.

What CUDA needs of sockets (a Unix socket, bind and listen) stays for the children that may use a GPU; nobody connects
or sends. Programs are for the children that compile. Whoever is refused sees "Operation not permitted", or for a
process too many "Resource temporarily unavailable", so that the two can be told apart.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Collection

from egg.tools.sandbox import bpf
from egg.tools.sandbox.bpf import Step
from egg.tools.sandbox.linux import call
from egg.tools.sandbox.records import Grant
from egg.tools.sandbox.syscalls import AUDIT_ARCH, known_machine, number

SET_MODE_FILTER = 1
GET_ACTION_AVAIL = 2
ALL_THREADS = 1
X32 = 0x40000000
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
FILE_KIND, FIFO = 0o170000, 0o010000
CLONE_THREAD = 0x10000
CLONE_APART = 0x7E020000 | 0x2000 | 0x8000
"""New namespaces, traced, or a sister of the caller instead of its child."""
OF_PARENTS = (1, 36, 0x59616D61)
PRCTL_OPTIONS = (*OF_PARENTS, 4, 22, 35)
"""Death signal, subreaper, tracer; dumpable, seccomp, memory map."""
IOCTLS = (0x5412, 0x541C)
"""What puts keys into a terminal."""

DENIED = """
ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_open pidfd_getfd pidfd_send_signal kcmp
bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key seccomp
mount umount2 pivot_root chroot unshare setns open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick
mount_setattr swapon swapoff quotactl quotactl_fd acct name_to_handle_at open_by_handle_at fanotify_init fanotify_mark
reboot kexec_load kexec_file_load init_module finit_module delete_module settimeofday clock_settime clock_adjtime
adjtimex sethostname setdomainname iopl ioperm modify_ldt vhangup syslog memfd_secret mknod mknodat
chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat file_setattr
setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat
connect accept accept4 sendto sendmsg sendmmsg
truncate shmget shmat shmctl msgget msgsnd msgrcv msgctl semget semop semtimedop semctl mq_open mq_unlink
""".split()  # noqa: SIM905
TO_ITSELF = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
OF_ITSELF = ("prlimit64",)
OF_ITSELF_WHERE_OTHERS_SHOW = (
    "sched_setaffinity",
    "sched_setscheduler",
    "sched_setparam",
    "sched_setattr",
    "migrate_pages",
    "move_pages",
)
DENIED_WHERE_OTHERS_SHOW = ("setpriority", "ioprio_set")
CONVERSATION = ("connect", "accept", "accept4", "sendto", "sendmsg", "sendmmsg")
SIGNALS = (*TO_ITSELF, "pidfd_open", "pidfd_send_signal")
MODES = ("chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "utimensat", "futimesat")


def available() -> None:
    """Return if filters can be used here.

    Raises:
        OSError: they cannot.
    """
    if not known_machine():
        raise OSError(errno.ENOSYS, f"no table of system calls for {os.uname().machine}")
    action = ctypes.create_string_buffer(struct.pack("=I", bpf.ERRNO))
    call("syscall", number("seccomp"), GET_ACTION_AVAIL, 0, action)


def restrict(*, programs: bool, others_show: bool, grants: Collection[Grant] = ()) -> None:
    """Filter the calling process and all its threads, for good. Needs no_new_privs.

    Args:
        programs: whether it may start processes and use Unix sockets.
        others_show: whether it sees processes that are not its own.
        grants: what it may do all the same; none where others show.

    Raises:
        OSError: the kernel refuses.
    """
    code = bpf.assemble(_steps(programs, others_show, () if others_show else grants))
    buffer = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer)))
    if call("syscall", number("seccomp"), SET_MODE_FILTER, ALL_THREADS, program):
        raise OSError(errno.EBUSY, "a thread has another filter")


def _steps(programs: bool, others_show: bool, grants: Collection[Grant]) -> list[Step]:
    machine = os.uname().machine
    steps = [bpf.load(bpf.ARCH), Step(bpf.EQUAL, 1, 0, AUDIT_ARCH[machine]), bpf.answer(bpf.KILL_PROCESS)]
    steps += [bpf.load(bpf.NUMBER)]
    if machine == "x86_64":
        steps += [Step(bpf.AT_LEAST, 0, 1, X32), bpf.refuse(errno.EPERM)]
    for name, block in (_blocks(programs, others_show) | _granted(grants)).items():
        if (call_number := number(name)) is not None:
            steps += bpf.when(call_number, block)
    return [*steps, bpf.answer(bpf.ALLOW)]


def _blocks(programs: bool, others_show: bool) -> dict[str, list[Step]]:
    me = os.getpid()
    no = [bpf.refuse(errno.EPERM)]
    blocks = dict.fromkeys(DENIED, no)
    blocks |= {name: bpf.only(0, (me,), errno.EPERM) for name in TO_ITSELF}
    blocks |= {name: bpf.only(0, (0, me), errno.EPERM) for name in OF_ITSELF}
    if others_show:
        blocks |= {name: bpf.only(0, (0, me), errno.EPERM) for name in OF_ITSELF_WHERE_OTHERS_SHOW}
        blocks |= dict.fromkeys(DENIED_WHERE_OTHERS_SHOW, no)
    blocks["prctl"] = bpf.unless(0, PRCTL_OPTIONS, errno.EPERM)
    blocks["ioctl"] = bpf.unless(1, IOCTLS, errno.EPERM)
    blocks |= {"open": _emptying(1), "openat": _emptying(2)}
    blocks["openat2"] = [bpf.refuse(errno.ENOSYS)]  # its flags lie in memory too
    blocks["clone3"] = [bpf.refuse(errno.ENOSYS)]  # its flags lie in memory; the C library then falls back to clone
    blocks["clone"] = _clone(programs)
    if programs:
        blocks["socket"] = bpf.only(0, (AF_UNIX,), errno.EPERM)
    else:
        blocks |= dict.fromkeys(("socket", "memfd_create", "execve", "execveat"), no)
        blocks |= dict.fromkeys(("fork", "vfork"), [bpf.refuse(errno.EAGAIN)])
    return blocks


def _emptying(flags: int) -> list[Step]:
    """Not what opens a file to read it and empties it all the same: Landlock before its version 3 asks no right."""
    emptied = [Step(bpf.ANY_BIT, 0, 2, os.O_TRUNC), Step(bpf.ANY_BIT, 1, 0, os.O_WRONLY | os.O_RDWR)]
    return [bpf.argument(flags), *emptied, bpf.refuse(errno.EPERM), bpf.answer(bpf.ALLOW)]


def _granted(grants: Collection[Grant]) -> dict[str, list[Step]]:
    """Blocks that take the place of stricter ones."""
    yes, blocks = [bpf.answer(bpf.ALLOW)], dict[str, list[Step]]()
    if {"sockets", "tcp"} & {*grants}:
        blocks |= dict.fromkeys(CONVERSATION, yes)
    if "tcp" in grants:
        blocks["socket"] = bpf.only(0, (AF_UNIX, AF_INET, AF_INET6, AF_NETLINK), errno.EPERM)
    if "fifos" in grants:
        places = {"mknod": 1, "mknodat": 2}
        blocks |= {name: bpf.only_masked(at, FILE_KIND, FIFO, errno.EPERM) for name, at in places.items()}
    if "signals" in grants:
        blocks |= dict.fromkeys(SIGNALS, yes)
    if "subreaper" in grants:
        blocks["prctl"] = bpf.unless(0, PRCTL_OPTIONS[len(OF_PARENTS) :], errno.EPERM)
    if "modes" in grants:
        blocks |= dict.fromkeys(MODES, [bpf.refuse(0)])  # done, says the kernel, and does nothing
    return blocks


def _clone(programs: bool) -> list[Step]:
    apart = [bpf.argument(0), Step(bpf.ANY_BIT, 0, 1, CLONE_APART), bpf.refuse(errno.EPERM)]
    if programs:
        return [*apart, bpf.answer(bpf.ALLOW)]
    return [*apart, Step(bpf.ANY_BIT, 1, 0, CLONE_THREAD), bpf.refuse(errno.EAGAIN), bpf.answer(bpf.ALLOW)]
