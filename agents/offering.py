"""Which of its tools an agent is offered: those that can tell or do something where it stands."""

from collections.abc import Sequence

from langchain_core.tools import BaseTool

from egg.agents.toolbox.counting import hardware_counters
from egg.agents.toolbox.submit import change_does_not_pay, may_decline
from egg.state.run import AgentState


def offered(tools: Sequence[BaseTool], state: AgentState) -> tuple[BaseTool, ...]:
    """Without a GPU there are no counters; only a planned change to a kernel that works can be declined."""
    of_use = {hardware_counters.name: state["device"].present, change_does_not_pay.name: may_decline(state)}
    return tuple(tool for tool in tools if of_use.get(tool.name, True))
