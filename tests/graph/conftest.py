"""A real `langgraph dev` server for the tests that need one."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.make import ROOT


class Server:
    """`langgraph dev` on this checkout, in a folder whose runs, cache and server state are its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for entry in ROOT.iterdir():  # the server writes beside its langgraph.json
            if not entry.name.startswith(".") and entry.name != "runs":
                (folder / entry.name).symlink_to(entry)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        environment = {
            **os.environ,
            "EGG_RUNS_DIR": str(folder / "runs"),
            "EGG_CACHE_DIR": str(folder / "cache"),
            "LANGSMITH_TRACING": "false",
            "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        }
        self.log = folder / "server.log"
        command = [str(Path(sys.executable).with_name("langgraph")), "dev", "--no-browser", "--no-reload"]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port)],
                cwd=folder,
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def ask(self, path: str, body: dict[str, Any] | None = None, seconds: float = 500) -> Any:
        """The JSON answer to a GET, or to a POST of `body`."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return json.load(answer)

    def wait(self) -> None:
        """Until it answers."""
        for _ in range(300):
            assert self.process.poll() is None, self.log.read_text()
            try:
                assert self.ask("/ok")["ok"] is True
                return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        raise AssertionError(self.log.read_text())

    def kill(self) -> None:
        """As a crash would."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture
def server(tmp_path) -> Iterator[Server]:
    started = Server(tmp_path)
    try:
        started.wait()
        yield started
    finally:
        started.kill()
