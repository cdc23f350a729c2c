"""A real `langgraph dev` server: schemas, drawing, a run over HTTP, and a run that the command finishes."""

import importlib.util
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest

from tests.cli.make import ROOT, finish, problem, spawn

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("langgraph_api") is None, reason="needs the extra `studio`"),
]


def test_the_server_shows_runs_and_hands_over(server, tmp_path):
    file = problem(tmp_path)
    (assistant,) = server.ask("/assistants/search", {"graph_id": "egg"})

    schemas = server.ask(f"/assistants/{assistant['assistant_id']}/schemas")
    form = schemas["input_schema"]["properties"]
    assert form["problem_file"]["description"] and form["seeds"]["maximum"] == 16
    drawn = server.ask(f"/assistants/{assistant['assistant_id']}/graph?xray=true")
    nodes = {node["id"] for node in drawn["nodes"]}
    assert {"intake", "baseline", "choose", "confirm", "report"} <= nodes
    assert any(name.startswith("seed:") for name in nodes)

    thread = server.ask("/threads", {"thread_id": str(uuid4())})["thread_id"]
    request = {"problem_file": str(file), "model": "rulebook", "run_dir": str(tmp_path / "runs" / thread)}
    values = server.ask(f"/threads/{thread}/runs/wait", {"assistant_id": "egg", "input": request})
    assert values["outcome"]["correct"] and values["outcome"]["kernel"], values
    assert (tmp_path / "runs" / thread / "kernel.py").exists()

    shutil.rmtree(tmp_path / "cache")  # or the second run would be over before it can be interrupted
    thread = server.ask("/threads", {"thread_id": str(uuid4())})["thread_id"]
    folder = tmp_path / "runs" / thread
    server.ask(f"/threads/{thread}/runs", {"assistant_id": "egg", "input": {**request, "run_dir": str(folder)}})
    for _ in range(1000):
        state = server.ask(f"/threads/{thread}/state")
        if state["next"] and "baseline" in (state["values"] or {}):
            break
        time.sleep(0.05)
    assert state["next"], state
    server.kill()
    assert not (folder / "evidence.json").exists()

    code, out, err = finish(spawn(tmp_path, "resume", thread, EGG_CACHE_DIR=str(tmp_path / "cache")))
    assert code == 0, err + server.log.read_text()
    assert "confirmed" in out and "intake ..." not in out
    assert json.loads((folder / "evidence.json").read_text())["outcome"]["kernel"]
    code, _, err = finish(spawn(tmp_path, "resume", thread))
    assert code == 2 and "is finished" in err


def test_langgraph_accepts_the_configuration():
    command = [str(Path(sys.executable).with_name("langgraph")), "validate", "-c", "langgraph.json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
