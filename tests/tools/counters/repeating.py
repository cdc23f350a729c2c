"""Child task: launches that come again, under a profiler that notes what it sees."""

from typing import Any

from egg.tools.tasks.counted import Repeats
from egg.tools.tasks.launches import Launch


def work(payload: dict[str, Any]) -> dict[str, Any]:
    """Names in the order in which they were profiled."""
    state = {"on": True}
    profiled: list[str] = []
    done: list[str] = []
    repeats = Repeats(lambda: state.update(on=True), lambda: state.update(on=False))
    for name, size in (("a", 1), ("a", 1), ("b", 1), ("a", 1), *[("a", 1)] * 5):
        launch = Launch(name, (size, 1, 1), True, name)

        def start(name: str = name) -> None:
            done.append(name)
            if state["on"]:
                profiled.append(name)

        repeats(launch, start)
    return {"profiled": profiled, "done": len(done), "running": state["on"]}
