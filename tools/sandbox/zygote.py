"""A warm process that has PyTorch and Triton loaded and does nothing but fork.

Started by exec with a closed environment. It must stay single-threaded and never touch CUDA: neither survives a fork.
Requests come one a message: `fork` (with three descriptors: payload, channel, output) and `reap`. When the other end
of the control socket closes, however its owner died, everything here dies too.
"""

import gc
import json
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from egg.tools.sandbox.child import find, live
from egg.tools.sandbox.confine import adopt_orphans
from egg.tools.sandbox.records import Bounds


def main(control: socket.socket) -> None:
    """Serve until the owner is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    _warm()
    living: set[int] = set()
    while True:
        data, fds, _, _ = socket.recv_fds(control, 1 << 16, 3)
        if not data:
            break
        request = json.loads(data)
        answer = _fork(request, fds, control, living) if request["do"] == "fork" else _reap(request, living)
        for fd in fds:
            os.close(fd)
        try:
            control.send(json.dumps(answer).encode())
        except OSError:
            break
    for pid in list(living):
        _reap({"pid": pid, "grace": 0.0}, living)


def _warm() -> None:
    import torch
    import triton  # noqa: F401

    torch.set_num_threads(1)
    if os.environ.get("TRITON_INTERPRET") == "1":
        from egg.tools.sandbox.warmup import interpret_one_kernel

        interpret_one_kernel()
    gc.collect()
    gc.freeze()


def _fork(request: dict[str, Any], fds: list[int], control: socket.socket, living: set[int]) -> dict[str, Any]:
    try:
        find(request["task"])  # imported here once, so that no child has to
    except Exception as error:
        return {"error": f"{request['task']}: {type(error).__name__}: {error}"}
    if "torch" in sys.modules and sys.modules["torch"].cuda.is_initialized():
        return {"error": f"{request['task']}: importing it touches CUDA, which does not survive a fork"}
    me = os.getpid()
    pid = os.fork()
    if pid == 0:
        control.close()
        live(request["task"], Bounds(**request["bounds"]), me, *fds)
    living.add(pid)
    return {"pid": pid}


def _reap(request: dict[str, Any], living: set[int]) -> dict[str, Any]:
    pid = request["pid"]
    died_by_itself = _dead_within(pid, request["grace"])
    for kill in (os.killpg, os.kill):  # the group does not exist until the child has made it
        with suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    living.discard(pid)
    _kill_strays(living)
    return {"code": os.waitstatus_to_exitcode(status) if died_by_itself else None}


def _dead_within(pid: int, seconds: float) -> bool:
    """Leaves the dead as a zombie, so that its id cannot be another's when it is killed."""
    deadline = time.monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.002)
    return True


def _kill_strays(living: set[int]) -> None:
    """Whatever left its group and lost its parent is our child now, and nobody's task."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while children.exists() and (strays := {int(pid) for pid in children.read_text().split()} - living):
        for pid in strays:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
