"""What every tool needs: the state of the agent that called it."""

from typing import Annotated, Any, cast

from langgraph.prebuilt import ToolRuntime

from egg.state.run import AgentState
from egg.tools.store import Store

Runtime = ToolRuntime[Any, Any]
Answer = tuple[str, dict[str, Any]]
Source = Annotated[str, "The whole Python file, or the id of a kernel that was shown or sent before"]


def state_of(runtime: Runtime) -> AgentState:
    """The state of the calling agent."""
    return cast(AgentState, runtime.state)


def store_of(state: AgentState) -> Store:
    """The run's store."""
    return Store(state["run_dir"])
