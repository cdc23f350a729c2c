"""A warm process that has PyTorch and Triton loaded, forks children, and watches what they use.

Started by exec with a closed environment. It must stay single-threaded and never touch CUDA: neither survives a fork.
Requests come one a message: `layers` (which of them work here), `fork` (with three descriptors: payload, channel,
output) and `reap`. When the other end of the control socket closes, however its owner died, everything here dies too.
"""

import gc
import json
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from egg.tools.sandbox.child import find, live
from egg.tools.sandbox.confine import adopt_orphans
from egg.tools.sandbox.end import Undead, end, end_strays
from egg.tools.sandbox.files import python_files
from egg.tools.sandbox.layers import usable
from egg.tools.sandbox.limits import USUAL_PRIORITY
from egg.tools.sandbox.linux import PR_SET_DUMPABLE, prctl
from egg.tools.sandbox.records import Bounds
from egg.tools.sandbox.removal import remove
from egg.tools.sandbox.spawn import Child, spawn
from egg.tools.sandbox.watch import SECONDS, Breach, breach, usage

THOROUGH_EVERY = 20
MOST_SHARE = 0.1
"""Of the time of a processor, for looking at what children use."""
URGENCY = 10


@dataclass
class Living:
    """A child that has not been reaped yet. `breach`: why it was killed already, if it was."""

    child: Child
    bounds: Bounds
    breach: Breach | None = None


class Zygote:
    """Serves one owner."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.living: dict[int, Living] = {}
        self.warm_bytes = usage(os.getpid()).memory_bytes
        self.looks = 0
        self.next_look = 0.0

    def serve(self) -> None:
        """Until the owner is gone."""
        while True:
            if self.living and not select.select([self.control], [], [], self._until_next_look())[0]:
                self.look()
                continue
            data, fds, _, _ = socket.recv_fds(self.control, 1 << 16, 3)
            if not data:
                break
            answer = self.answer(json.loads(data), fds)
            for fd in fds:
                os.close(fd)
            try:
                self.control.send(json.dumps(answer).encode())
            except OSError:
                break
        for pid in list(self.living):
            self.reap(pid, 0.0)

    def answer(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """To one request."""
        if request["do"] == "layers":
            have, missing = usable(request["allowed"])
            return {"layers": have, "missing": missing}
        if request["do"] == "fork":
            return self.fork(request, fds)
        return self.reap(request["pid"], request["grace"])

    def fork(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """`pid` of a new child, or the `error`."""
        task, bounds = request["task"], Bounds(**request["bounds"])
        try:
            find(task)  # imported here once, so that no child has to
        except Exception as error:
            return {"error": f"{task}: {type(error).__name__}: {error}"}
        if "torch" in sys.modules and sys.modules["torch"].cuda.is_initialized():
            return {"error": f"{task}: importing it touches CUDA, which does not survive a fork"}
        python_files()  # so that it is known to every child
        try:
            child = spawn(request["layers"], bounds, partial(live, task, bounds, request["layers"], *fds))
        except OSError as error:
            return {"error": f"isolation is not what it was: {error}"}
        self.living[child.pid] = Living(child, bounds)
        return {"pid": child.pid}

    def reap(self, pid: int, grace: float) -> dict[str, Any]:
        """End what is left of a child. `code` of its exit if that was its own doing; the `breach` it was killed for."""
        living = self.living.pop(pid)
        try:
            code = None if living.breach else end(living.child, grace)
            end_strays(self._known())
        except Undead as error:
            return {"code": None, "breach": None, "undead": str(error)}
        return {"code": code, "breach": living.breach}

    def look(self) -> None:
        """Kill whoever uses more than it may."""
        began = time.process_time()
        self.looks += 1
        for living in self.living.values():
            if living.breach is None:
                thorough = self.looks % THOROUGH_EVERY == 0
                living.breach = breach(living.child, living.bounds, self.warm_bytes, thorough=thorough)
                if living.breach is not None:
                    with suppress(Undead):
                        end(living.child)
        with suppress(Undead):
            end_strays(self._known())
        self.next_look = time.monotonic() + max(SECONDS, (time.process_time() - began) / MOST_SHARE)

    def _until_next_look(self) -> float:
        return max(0.0, self.next_look - time.monotonic())

    def _known(self) -> list[int]:
        children = [living.child for living in self.living.values() if living.breach is None]
        return [pid for child in children for pid in (child.pid, child.init) if pid is not None]


def main(control: socket.socket) -> None:
    """Load what every child needs, then serve."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    _warm()
    with suppress(OSError):  # a bomb's processes share what is left
        os.setpriority(os.PRIO_PROCESS, 0, USUAL_PRIORITY - URGENCY)
    prctl(PR_SET_DUMPABLE, 0)  # no child of the same user reads or writes its memory
    Zygote(control).serve()
    remove(os.environ["HOME"])  # the owner may have been killed
    os._exit(0)  # PyTorch takes its time to unload, and somebody waits


def _warm() -> None:
    import torch
    import triton  # noqa: F401

    torch.set_num_threads(1)
    if os.environ.get("TRITON_INTERPRET") == "1":
        from egg.tools.sandbox.warmup import interpret_one_kernel

        interpret_one_kernel()
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
