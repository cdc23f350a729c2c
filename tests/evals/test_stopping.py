"""Ctrl-C ends a command at once, whatever its threads and children are at."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic

COMMAND = """
from concurrent.futures import ThreadPoolExecutor
from time import sleep

from egg.evals.stopping import stoppable
from egg.tools.sandbox.client import open_worker


def main():
    worker = open_worker("tests.tools.sandbox.toys:add_up", {}, interpret=True)
    with ThreadPoolExecutor(2) as pool:
        pool.submit(sleep, 60)
        print(*open(f"/proc/{worker.zygote.pid}/task/{worker.zygote.pid}/children").read().split(), flush=True)
    return 0


stoppable(main)
"""


def test_at_once(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = subprocess.Popen(
        [sys.executable, "-c", COMMAND], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert command.stdout and command.stderr
    below = command.stdout.readline().split()
    assert below
    began = monotonic()
    command.send_signal(signal.SIGINT)
    assert command.wait(20) == 130 and monotonic() - began < 5
    assert "Stopped." in command.stderr.read()
    assert not [pid for pid in below if Path(f"/proc/{pid}/exe").exists()]
    assert not list(tmp_path.iterdir())
