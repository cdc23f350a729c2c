"""A run that asks, over a real `langgraph dev` server: the question as JSON, a bad answer, a good one."""

import importlib.util
from uuid import uuid4

import pytest

from tests.cli.make import finish, problem, spawn

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("langgraph_api") is None, reason="needs the extra `studio`"),
]


def test_studio_asks_and_the_command_may_answer(server, tmp_path):
    thread = server.ask("/threads", {"thread_id": str(uuid4())})["thread_id"]
    (assistant,) = server.ask("/assistants/search", {"graph_id": "egg"})
    schemas = server.ask(f"/assistants/{assistant['assistant_id']}/schemas")
    assert schemas["input_schema"]["properties"]["pause"]["description"]
    request = {"problem_file": str(problem(tmp_path)), "pause": "both", "run_dir": str(tmp_path / "runs" / thread)}
    server.ask(f"/threads/{thread}/runs/wait", {"assistant_id": "egg", "input": request})

    def pending() -> dict[str, dict]:
        state = server.ask(f"/threads/{thread}/state")
        return {each["value"]["stage"]: each for task in state["tasks"] for each in task["interrupts"]}

    def answer(resume: object) -> None:
        server.ask(f"/threads/{thread}/runs/wait", {"assistant_id": "egg", "command": {"resume": resume}})

    asked = pending()
    assert set(asked) == {"seed-1", "seed-2"} and asked["seed-1"]["value"]["kind"] == "stage"
    answer({asked["seed-1"]["id"]: {"action": "refuse", "text": "one is enough"}, asked["seed-2"]["id"]: "perhaps"})
    asked = pending()
    assert set(asked) == {"seed-2"} and "`perhaps` is no answer" in asked["seed-2"]["value"]["fault"]
    answer("refuse")  # the only question needs no id
    asked = pending()
    assert set(asked) == {"choose"} and asked["choose"]["value"]["decision"]["verb"] == "failed"
    server.kill()

    environment = {"EGG_CACHE_DIR": str(tmp_path / "cache")}
    code, out, err = finish(spawn(tmp_path, "resume", thread, "--answer", "edit nobody wanted any", **environment))
    assert code == 3 and "confirm fell back" in out and f"egg resume {thread} --answer approve" in err
    code, out, err = finish(spawn(tmp_path, "resume", thread, "--answer", "approve", **environment))
    assert code == 0, err + server.log.read_text()
    assert "nobody wanted any" in out and "refused by a person (one is enough)" in out
