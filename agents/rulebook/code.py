"""Rules of the code agent: let the library write the kernel, compile it, hand it in."""

from typing import Any

from egg.agents.rulebook.milder import milder
from egg.agents.rulebook.step import Call, Case
from egg.tools.expert.spec import Edits


def decide(case: Case) -> Call:
    """The next tool call."""
    written = [result for result in case.results if result.tool == "expert_skeleton"]
    compiled = case.last("compile_kernel")
    if not written:
        return Call("expert_skeleton", _first(case), "Let the expert library write it.")
    kernel = written[-1].artifact.get("kernel")
    if kernel is None:  # the library refused; what is in force is the best there is
        kernel = case.brief["broken"] or case.brief["incumbent"]
        return Call("submit_kernel", {"source": kernel, "rationale": written[-1].text}, "The library refused.")
    found = [
        result.artifact for result in (written[-1], compiled) if result and result.artifact.get("kernel") == kernel
    ]
    ok = next((artifact["ok"] for artifact in found if "ok" in artifact), None)
    if ok is None:  # the library only wrote it
        return Call("compile_kernel", {"source": kernel}, "See whether it compiles for the target.")
    if not ok and len(written) == 1 and (edits := _second(case)):
        return Call("expert_skeleton", {"edits": edits}, "It does not compile; go half as far.")
    return Call("submit_kernel", {"source": kernel, "rationale": _rationale(case)}, "Hand it to the judge.")


def _first(case: Case) -> dict[str, Any]:
    edits = _wanted(case)
    return {"edits": edits} if edits else {"structure": case.brief["structure"]}


def _second(case: Case) -> Edits | None:
    """Edits for another try after a compile error. A structure has nothing half way; that is for the debug agent."""
    before = case.decisions("decisions")
    if before is None or case.brief["group"] == "structure":
        return None
    start = case.decisions("broken_decisions") or before
    return milder(before, start.edited(_wanted(case)), case.brief["group"])


def _wanted(case: Case) -> dict[str, Any]:
    """The edits that the diagnosis, or else the plan, asks for."""
    if case.brief["broken"]:
        return dict((case.brief["diagnosis"] or {}).get("edits", {}))
    return dict((case.brief["plan"] or {}).get("edits", {}))


def _rationale(case: Case) -> str:
    if case.brief["broken"] and case.brief["diagnosis"]:
        return f"repaired: {case.brief['diagnosis']['fix']}"
    if case.brief["plan"]:
        return str(case.brief["plan"]["change"])
    return f"expert kernel, structure {case.brief['structure']}"
