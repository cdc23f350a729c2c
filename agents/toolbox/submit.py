"""The tools that end an agent's work. What they take is the answer, so it is structured by construction."""

import ast
from typing import Annotated, Any

from langchain_core.tools import ToolException, tool

from egg.agents.sources import source_of
from egg.agents.toolbox.bench import Answer, Runtime, Source, state_of
from egg.state.candidate import kernel_id
from egg.state.plan import Diagnosis, Plan
from egg.state.run import AgentState
from egg.state.search import Parameter, SearchSpace
from egg.tools.parsing import parse
from egg.tools.tune.space import group_of, is_decision, names_in

Edits = Annotated[
    dict[str, dict[str, dict[str, Any]]] | None,
    "The same as edits of the decisions on the kernel's `# egg:` line, {region: {group: {parameter: value}}}; only for "
    "a kernel that has one",
]


SearchValues = Annotated[
    dict[str, list[bool | int | str]] | None,
    "Numbers that a machine may choose, with the values to try: {name: [values]}. A name is a module-level constant "
    "(`BLOCK`), an entry of a module-level dict (`META.BLOCK`), or `kernel.config`: an index of its autotune configs. "
    "The kernel must be right for every combination; never pay for guesses at what can be searched",
]


@tool(response_format="content_and_artifact")
def submit_kernel(
    runtime: Runtime,
    source: Source,
    rationale: Annotated[str, "What was decided and why, in one sentence"],
    search_space: SearchValues = None,
) -> Answer:
    """Hand in the kernel. This ends your work on it; the judge takes over."""
    whole = source_of(state_of(runtime), source)
    try:
        names = {node.name for node in parse(whole).body if isinstance(node, ast.ClassDef)}
    except SyntaxError as error:
        raise ToolException(f"line {error.lineno} is not Python: {error.msg}") from None
    if "ModelNew" not in names:
        raise ToolException("the file defines no class ModelNew")
    space = _space(whole, search_space or {})
    return "submitted", {"kernel": kernel_id(whole), "rationale": rationale, "space": space}


@tool(response_format="content_and_artifact")
def change_does_not_pay(
    runtime: Runtime, why: Annotated[str, "What compiling or checking showed against the change, with the figures"]
) -> Answer:
    """Decline the planned change instead of handing in a kernel that is worse. The kernel in force stays, and this
    stage ends.
    """
    if not may_decline(state_of(runtime)):
        raise ToolException("there is no planned change to decline: end with submit_kernel")
    return "submitted", {"plan": Plan(worth_it=False, why=why).model_dump(mode="json")}


def may_decline(state: AgentState) -> bool:
    """Whether there is a planned change to a kernel that works, and no broken draft of it."""
    return bool(state.get("plan") and state.get("incumbent") and not state.get("repair"))


def _space(source: str, values: dict[str, list[bool | int | str]]) -> dict[str, Any] | None:
    """The space as JSON, each parameter in the stage that its name belongs to.

    Raises:
        ToolException: the source has no such parameter, or a list is empty.
    """
    if not values:
        return None
    known = names_in(source)
    if unknown := sorted(values.keys() - set(known)):
        there = ", ".join(known) or "none: give it module-level constants such as BLOCK = 128"
        raise ToolException(f"search_space: no {', '.join(unknown)} in the kernel; it has {there}")
    if 0 < sum(map(is_decision, values)) < len(values):
        raise ToolException("search_space: name either decisions of the `# egg:` line or constants, not both")
    if empty := sorted(name for name, choices in values.items() if not choices):
        raise ToolException(f"search_space: no values for {', '.join(empty)}")
    parameters = [
        Parameter(name=name, values=tuple(dict.fromkeys(choices)), group=group_of(name))
        for name, choices in values.items()
    ]
    return SearchSpace(parameters=tuple(parameters)).model_dump(mode="json")


@tool(response_format="content_and_artifact")
def submit_plan(
    bottleneck: Annotated[str, "What bounds the kernel now, with the figure that says so"],
    change: Annotated[str, "Exactly one change, in at most 35 words"],
    expected_gain: Annotated[float, "Fraction of the time expected to go away, 0 to 1"],
    why: Annotated[str, "Why it helps, in at most 35 words"],
    edits: Edits = None,
) -> Answer:
    """Hand in the plan: one bottleneck, one change."""
    if not 0 <= expected_gain <= 1:
        raise ToolException(f"expected_gain is a fraction between 0 and 1, not {expected_gain}")
    plan = Plan(
        worth_it=True, bottleneck=bottleneck, change=change, expected_gain=expected_gain, why=why, edits=edits or {}
    )
    return "submitted", plan.model_dump(mode="json")


@tool(response_format="content_and_artifact")
def not_worth_it(why: Annotated[str, "Why no change is worth a try, with the figures that say so"]) -> Answer:
    """End this stage: nothing that it may change is expected to gain enough."""
    return "submitted", Plan(worth_it=False, why=why).model_dump(mode="json")


@tool(response_format="content_and_artifact")
def submit_diagnosis(
    cause: Annotated[str, "What is wrong and where, in at most 35 words"],
    fix: Annotated[str, "What to change, in at most 35 words"],
    edits: Edits = None,
) -> Answer:
    """Hand in the diagnosis; the code agent will make the fix."""
    return "submitted", Diagnosis(cause=cause, fix=fix, edits=edits or {}).model_dump(mode="json")


@tool(response_format="content_and_artifact")
def no_fix(why: Annotated[str, "Why this draft should be dropped rather than repaired"]) -> Answer:
    """Give the draft up."""
    return "submitted", {"why": why}
