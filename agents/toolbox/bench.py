"""What every tool needs: the state of the agent that called it."""

from typing import Annotated, Any, cast

from langchain_core.tools import ToolException
from langgraph.prebuilt import ToolRuntime

from egg.agents.sources import source_of, tidy
from egg.state.run import AgentState
from egg.tools.errors import CandidateError
from egg.tools.store import Store

Runtime = ToolRuntime[Any, Any]
Answer = tuple[str, dict[str, Any]]
Source = Annotated[str, "The whole Python file, or the id of a kernel that was shown or sent before"]
AnySource = Annotated[str | None, "A whole file or an id; default: the kernel in force"]


def state_of(runtime: Runtime) -> AgentState:
    """The state of the calling agent."""
    return cast(AgentState, runtime.state)


def store_of(state: AgentState) -> Store:
    """The run's store."""
    return Store(state["run_dir"])


def source_meant(state: AgentState, given: str | None) -> str:
    """The source that is given, by itself or by its id; else that of the kernel in force.

    Raises:
        ToolException: none is given and none in force, or the id is unknown.
    """
    if given:
        return source_of(state, given)
    kernel = state.get("incumbent") or state.get("draft")
    if kernel is None:
        raise ToolException("there is no kernel in force yet; give a `source`")
    return tidy(kernel.source)


def refused(kernel: str, why: CandidateError) -> Answer:
    """A kernel, by its id, that cannot even be tried."""
    artifact = {"kernel": kernel, "ok": False, "status": str(why.status), "feedback": why.feedback}
    return f"Kernel {kernel}: {why.status}: {why.feedback}", artifact
