"""Tasks that do harm where they can: one for each kind that concerns the sandbox. What gets through returns."""

import ctypes
import mmap
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

Json = dict[str, Any]
_libc = ctypes.CDLL(None, use_errno=True)
SYSCALLS = {"io_uring_setup": 425, "clone3": 435, "pidfd_open": 434, "seccomp": 317, "unshare": 272, "bpf": 321}
X32 = 0x40000000
BLOCK = bytes(1 << 20)


def _raw(number: int, *args: Any) -> None:
    if _libc.syscall(number, *args) == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def read_file(payload: Json) -> Json:
    return {"text": Path(payload["path"]).read_text()}


def read_project_source(payload: Json) -> Json:
    import egg

    return {"text": (Path(egg.__file__).resolve().parents[1] / "pyproject.toml").read_text()}


def read_parents_environment(payload: Json) -> Json:
    return {"text": Path(f"/proc/{payload['owner']}/environ").read_bytes().decode()}


def read_parents_memory(payload: Json) -> Json:
    with open(f"/proc/{os.getppid() or payload['owner']}/mem", "rb"):
        return {}


def connect_tcp(payload: Json) -> Json:
    socket.create_connection(("127.0.0.1", payload["port"]), timeout=2).close()
    return {}


def send_udp(payload: Json) -> Json:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"key", ("127.0.0.1", 53))
    return {}


def connect_unix(payload: Json) -> Json:
    socket.socket(socket.AF_UNIX).connect(payload["unix"])
    return {}


def send_to_abstract(payload: Json) -> Json:
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"key", "\0egg-attack")
    return {}


def set_up_io_uring(payload: Json) -> Json:
    _raw(SYSCALLS["io_uring_setup"], 8, ctypes.create_string_buffer(256))
    return {}


def overwrite_package(payload: Json) -> Json:
    import numpy

    with open(numpy.__file__, "a") as file:
        file.write("")
    return {}


def plant_pth(payload: Json) -> Json:
    import numpy

    (Path(numpy.__file__).parents[1] / "evil.pth").write_text("import os")
    return {}


def write_outside(payload: Json) -> Json:
    Path(payload["path"]).write_text("x")
    return {}


def write_through_link(payload: Json) -> Json:
    os.symlink(payload["path"], "link")
    Path("link").write_text("x")
    return {}


def link_a_file_in(payload: Json) -> Json:
    os.link(payload["path"], "mine")
    return {"text": Path("mine").read_text()}


def change_mode(payload: Json) -> Json:
    os.chmod(payload["path"], 0o777)
    return {}


def change_times(payload: Json) -> Json:
    os.utime(payload["path"])
    return {}


def fill_one_file(payload: Json) -> Json:
    with open("filler", "wb") as file:
        while True:
            file.write(BLOCK)


def fill_many_files(payload: Json) -> Json:
    for number in range(1 << 20):
        Path(f"filler-{number}").write_bytes(BLOCK * 4)
    return {}


def fill_deep_folders(payload: Json) -> Json:
    """Too deep for any path to name the file at the bottom."""
    for _ in range(3000):
        os.mkdir("deeper")
        os.chdir("deeper")
    Path("filler").write_bytes(BLOCK * 8)
    time.sleep(5)
    return {}


def fill_deleted_files(payload: Json) -> Json:
    kept = []
    for number in range(900):
        kept.append(open(f"filler-{number}", "wb"))  # noqa: SIM115  # open on purpose
        os.unlink(f"filler-{number}")
        kept[-1].write(BLOCK * 8)
    time.sleep(5)
    return {}


def fill_mapped_files(payload: Json) -> Json:
    kept = []
    for _ in range(900):
        with open("filler", "wb+") as file:
            file.write(BLOCK * 8)
            file.flush()
            kept.append(mmap.mmap(file.fileno(), 8 << 20))
        os.unlink("filler")
        time.sleep(0.01)
    time.sleep(5)
    return {}


def make_many_files(payload: Json) -> Json:
    for number in range(1 << 20):
        os.mkdir(f"d{number}")
    return {}


def fill_shared_memory(payload: Json) -> Json:
    Path("/dev/shm/egg-filler").write_bytes(BLOCK)
    return {}


def fill_memory_files(payload: Json) -> Json:
    for number in range(900):
        fd = os.memfd_create(f"m{number}")
        for _ in range(64):
            os.write(fd, BLOCK)
    return {}


def take_memory(payload: Json) -> Json:
    kept = []
    while True:
        kept.append(bytearray(16 << 20))


def take_shared_memory(payload: Json) -> Json:
    """Which the limit on private memory does not count."""
    kept = []
    while True:
        kept.append(mmap.mmap(-1, 16 << 20))
        kept[-1].write(bytes(16 << 20))


def take_memory_in_many(payload: Json) -> Json:
    """Each process stays below the limit that it has of its own."""
    for _ in range(12):
        if os.fork() == 0:
            kept = bytearray(os.urandom(1 << 20)) * 100
            time.sleep(30)
            os._exit(len(kept) & 1)
    time.sleep(30)
    return {}


def fork_bomb(payload: Json) -> Json:
    while True:
        os.fork()


def fork_bomb_that_leaves(payload: Json) -> Json:
    """Each in a session of its own, whose parent is gone."""
    while True:
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)


def deaf_fork_bomb(payload: Json) -> Json:
    """Does not care that it may not."""
    while True:
        with suppress(OSError):
            os.fork()


def thread_bomb(payload: Json) -> Json:
    while True:
        threading.Thread(target=time.sleep, args=(60,)).start()


def leave_threads(payload: Json) -> Json:
    threading.Thread(target=time.sleep, args=(60,), daemon=False).start()
    return {"honest": True}


def leave_daemon(payload: Json) -> Json:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "6173"])
        os._exit(0)
    time.sleep(0.2)
    return {}


def start_program(payload: Json) -> Json:
    subprocess.run(["true"], check=True)
    return {}


class _Deeper:
    def __repr__(self) -> str:
        return repr(self)


def recurse(payload: Json) -> Json:
    """Without end, and through C, whose stack has one."""
    sys.setrecursionlimit(1 << 30)
    return {"text": repr(_Deeper())}


def abort(payload: Json) -> Json:
    os.abort()


def kill_itself(payload: Json) -> Json:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(5)
    return {}


def forge_output(payload: Json) -> Json:
    print('{"state": "done", "value": {"forged": true}}', flush=True)
    os._exit(0)


def _channels() -> list[int]:
    found = []
    for fd in range(3, 64):
        with suppress(OSError):
            if os.readlink(f"/proc/self/fd/{fd}").startswith("socket:"):
                found.append(fd)
    return found


def forge_nonsense(payload: Json) -> Json:
    for fd in _channels():
        os.write(fd, b'{"state": "passed"}\n')
    time.sleep(5)
    return {}


def _say(text: bytes) -> Json:
    for fd in _channels():
        os.write(fd, text + b"\n")
    time.sleep(5)
    return {}


def forge_a_deep_answer(payload: Json) -> Json:
    """Deeper than a parser of ours may follow."""
    return _say(b"[" * 50_000)


def forge_an_odd_state(payload: Json) -> Json:
    return _say(b'{"state": [], "value": {}}')


def forge_half_a_character(payload: Json) -> Json:
    """No file can hold it."""
    return _say(b'{"state": "raised", "value": {}, "error": "\\ud800"}')


def end_by_a_signal_without_a_name(payload: Json) -> Json:
    os.kill(os.getpid(), 40)
    return {}


def take_an_odd_name(payload: Json) -> Json:
    """As /proc shows it: not UTF-8."""
    ctypes.CDLL(None).prctl(15, b"\xff\xfe", 0, 0, 0)
    time.sleep(0.3)
    return {}


def empty_a_file(payload: Json) -> Json:
    """By its name, which asks for no right to write."""
    os.truncate(payload["path"], 0)
    return {}


def empty_a_file_to_read(payload: Json) -> Json:
    os.open(payload["path"], os.O_RDONLY | os.O_TRUNC)
    return {}


def forge_a_pass(payload: Json) -> Json:
    """Its own failure, with a status that is none."""
    text = b'{"state": "raised", "value": {"type": "CandidateError", "status": "ok", "feedback": ""}}\n'
    for fd in _channels():
        os.write(fd, text)
    time.sleep(5)
    return {}


def blame_the_machine(payload: Json) -> Json:
    for fd in _channels():
        os.write(fd, b'{"state": "unconfined", "error": "the machine did it"}\n')
    time.sleep(5)
    return {}


def flood_the_channel(payload: Json) -> Json:
    while True:
        for fd in _channels():
            os.write(fd, BLOCK)


def kill_parent(payload: Json) -> Json:
    os.kill(os.getppid() or payload["owner"], signal.SIGKILL)
    return {}


def kill_parents_group(payload: Json) -> Json:
    os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
    return {}


def kill_all(payload: Json) -> Json:
    os.kill(-1, signal.SIGKILL)
    return {}


def limit_parent(payload: Json) -> Json:
    resource.prlimit(payload["owner"], resource.RLIMIT_NOFILE, (0, 0))
    return {}


def pin_parent(payload: Json) -> Json:
    os.sched_setaffinity(payload["owner"], {0})
    return {}


def open_parent(payload: Json) -> Json:
    _raw(SYSCALLS["pidfd_open"], payload["owner"], 0)
    return {}


def print_a_gigabyte(payload: Json) -> Json:
    for _ in range(1024):
        os.write(1, BLOCK)
    return {}


def filter_itself(payload: Json) -> Json:
    _raw(SYSCALLS["seccomp"], 1, 0, None)
    return {}


def leave_namespaces(payload: Json) -> Json:
    _raw(SYSCALLS["unshare"], 0x10000000)
    return {}


def load_bpf(payload: Json) -> Json:
    _raw(SYSCALLS["bpf"], 0, None, 0)
    return {}


def call_by_x32(payload: Json) -> Json:
    """The same kernel through another table of numbers: getpid."""
    _raw(X32 + 39)
    return {}


def change_the_kernel(payload: Json) -> Json:
    Path("/proc/sys/kernel/core_pattern").write_text("x")
    return {}


def raise_its_limit(payload: Json) -> Json:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return {}
