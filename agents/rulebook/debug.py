"""Rules of the debug agent: see the fault, name the region, fall back to what is known to work."""

from egg.agents.rulebook.milder import milder, to_torch
from egg.agents.rulebook.step import Call, Case
from egg.tools.expert.spec import Edits, KernelSpec

WRONG_VALUES = ("mismatch", "nondeterministic", "wrong_shape", "wrong_dtype")
"""Verdicts that a probe can tell more about."""


def decide(case: Case) -> Call:
    """The next tool call."""
    verdict = case.brief["verdict"] or {"status": "unknown", "feedback": ""}
    if verdict["status"] in WRONG_VALUES and case.last("probe") is None:
        return Call("probe", {"kind": "normal"}, "See how large the error is.")
    spec = case.decisions("broken_decisions")
    if spec is None:
        return _drop("the draft is not the expert library's, so its rules do not apply")
    failure = verdict["feedback"]
    edits = _fallback(case, spec, failure)
    if edits is None:
        return _drop(f"nothing milder is known than this {case.brief['group']} decision")
    first_line = failure.splitlines()[0] if failure else verdict["status"]
    diagnosis = {"cause": f"{verdict['status']}: {first_line}"[:300], "fix": _in_words(edits), "edits": edits}
    return Call("submit_diagnosis", diagnosis, "Fall back to what is known to work.")


def _fallback(case: Case, broken: KernelSpec, failure: str) -> Edits | None:
    """A first draft must become a kernel somehow; a change to a kernel that works can be dropped instead."""
    before = case.decisions("decisions")
    if before is None:
        return to_torch(broken, failure)
    return None if case.brief["group"] == "structure" else milder(before, broken, case.brief["group"])


def _in_words(edits: Edits) -> str:
    return "; ".join(
        f"{region}: {', '.join(f'{name} {value}' for values in groups.values() for name, value in values.items())}"
        for region, groups in edits.items()
    )


def _drop(why: str) -> Call:
    return Call("no_fix", {"why": why}, "Not worth a repair.")
