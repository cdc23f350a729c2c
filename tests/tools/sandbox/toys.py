"""Tasks that behave badly, for the sandbox's own tests. Run in children; loads nothing by itself."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]


def echo(payload: Json) -> Json:
    return payload


def environment(payload: Json) -> Json:
    return dict(os.environ)


def where(payload: Json) -> Json:
    import torch

    return {"cwd": os.getcwd(), "files": os.listdir("."), "threads": torch.get_num_threads(), "pid": os.getpid()}


def fail(payload: Json) -> Json:
    raise ValueError("no such luck\nat all")


def fail_saying(payload: Json) -> Json:
    raise RuntimeError(payload["said"])


def user_error(payload: Json) -> Json:
    from egg.state.errors import UserError

    raise UserError("say please")


def candidate_error(payload: Json) -> Json:
    from egg.state.evaluation import Status
    from egg.tools.errors import CandidateError

    raise CandidateError(Status.MISMATCH, "off by one")


def hang(payload: Json) -> Json:
    while True:
        pass


def crowded(payload: Json) -> Json:
    """Needs `seconds` of processor time, on one processor."""
    os.sched_setaffinity(0, {payload["processor"]})
    while time.process_time() < payload["seconds"]:
        pass
    return {}


def stop_itself(payload: Json) -> Json:
    os.kill(os.getpid(), signal.SIGSTOP)
    return {}


def leave(payload: Json) -> Json:
    print('{"state": "done", "value": {"forged": true}}', flush=True)
    os._exit(0)


def segfault(payload: Json) -> Json:
    ctypes.string_at(0)
    return {}


def bomb(payload: Json) -> Json:
    import torch

    return {"sum": float(torch.ones(payload["elements"]).sum())}


def flood(payload: Json) -> Json:
    for _ in range(2000):
        sys.stdout.write("x" * 10_000)
    print("the end")
    return {}


def daemon(payload: Json) -> Json:
    """Leaves a process behind that has its own session and no parent."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)
    time.sleep(0.1)
    shell = subprocess.Popen(["sleep", "61"])
    return {"shell": shell.pid}


def kill_parent(payload: Json) -> Json:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(5)
    return {}


def linear(payload: Json) -> Json:
    """A matrix product large enough for PyTorch to spread over its threads."""
    import torch

    torch.set_num_threads(2)
    return {"sum": float((torch.ones(600, 600) @ torch.ones(600, 600)).sum())}


def add_up(payload: Json) -> Iterator[Json]:
    total = payload["start"]
    message = yield {"total": total}
    while True:
        if message.get("hang"):
            hang({})
        total += 1 // message.get("divisor", 1) * message["add"]
        message = yield {"total": total}


def compiled(payload: Json) -> Json:
    """PyTorch's own compiler: starts gcc, writes and loads a library."""
    import torch
    import torch._inductor.config

    from egg.tools.tasks.module import load_module

    torch._inductor.config.compile_threads = 1
    wave = load_module("def wave(x):\n    return (x * 2).sin() + 1\n", "wave").wave
    x = torch.linspace(0, 1, 1000)
    return {"close": torch.allclose(torch.compile(wave)(x), wave(x))}


def interpret(payload: Json) -> Json:
    """An honest kernel in Triton's interpreter."""
    import torch

    from egg.tools.tasks.module import load_module

    x = torch.linspace(0, 1, 100)
    return {"right": bool((load_module(payload["source"], "candidate").run(x) == 2 * x).all())}
