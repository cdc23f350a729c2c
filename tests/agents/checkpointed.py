"""Run as a program: an agent as a stage runs it, on SQLite with strict msgpack; prints what the checkpoints held."""

import os
import sqlite3
import sys
import warnings
from pathlib import Path

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"  # read when LangGraph is imported

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from egg.agents.build import build_code_agent
from egg.state.candidate import Candidate
from egg.state.run import StageState
from tests.agents.make import seed_state
from tests.agents.scripted import KERNEL, Scripted, call


def main(folder: Path) -> None:
    warnings.simplefilter("error")
    script = [call("guide", topic="accuracy"), call("submit_kernel", source=KERNEL, rationale="r")]
    model = Scripted(script=script, seen=[])
    stage = StateGraph(StageState)
    stage.add_node("code", build_code_agent(lambda settings, role: model))
    stage.add_edge(START, "code")
    stage.add_edge("code", END)
    connection = sqlite3.connect(folder / "checkpoint.sqlite", check_same_thread=False)
    graph = stage.compile(checkpointer=SqliteSaver(connection))
    kernel = Candidate(source=KERNEL, origin="seed-1", structure="s")
    graph.invoke({**seed_state(folder), "incumbent": kernel}, {"configurable": {"thread_id": "t"}})
    types: dict[str, set[str]] = {}
    for saved in graph.checkpointer.list(None):
        for name, value in saved.checkpoint["channel_values"].items():
            for one in value if isinstance(value, (list, tuple)) else [value]:
                types.setdefault(name, set()).add(type(one).__name__)
    largest = connection.execute("select max(length(checkpoint)) from checkpoints").fetchone()[0]
    print(types, largest)
    wanted = {
        "settings": "Settings",
        "problem": "Problem",
        "workload": "Workload",
        "device": "Device",
        "spec": "StageSpec",
    }
    wanted |= {"baseline": "Baseline", "spent": "Usage", "usage": "Usage"}
    assert all(types[name] == {type_} for name, type_ in wanted.items()), types
    assert types["draft"] <= {"NoneType", "Candidate"} and "Candidate" in types["draft"]
    assert types["incumbent"] <= {"NoneType", "Candidate"} and "Candidate" in types["incumbent"]
    assert types["messages"] == {"SystemMessage", "HumanMessage", "AIMessage", "ToolMessage"}
    assert largest < 100_000


if __name__ == "__main__":
    main(Path(sys.argv[1]))
