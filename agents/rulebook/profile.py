"""Rules of the profile agent: read the static profile, take the expert's best move that is new and worth it."""

from typing import Any

from egg.agents.rulebook.step import Call, Case, Result
from egg.state.evaluation import StaticProfile
from egg.tools.expert import moves
from egg.tools.expert.spec import KernelSpec, Move


def decide(case: Case) -> Call:
    """The next tool call."""
    seen = case.last("static_profile")
    if seen is None:
        return Call("static_profile", {}, "Look before changing anything.")
    spec = case.decisions("decisions")
    if spec is None:
        return _stop("the kernel in force is not the expert library's, so its rules do not apply")
    options = [move for move in _moves(case, spec, seen) if move.change not in case.brief["tried"]]
    best = next((move for move in options if move.expected_gain >= case.brief["worth_it"]), None)
    if best is None:
        return _stop(_why_not(case, options))
    plan = best.model_dump(mode="json", include={"bottleneck", "change", "expected_gain", "why", "edits"})
    return Call("submit_plan", plan, "The best change that was not tried yet.")


def _moves(case: Case, spec: KernelSpec, seen: Result) -> tuple[Move, ...]:
    profile = StaticProfile.model_validate(seen.artifact["profile"]) if seen.artifact.get("ok") else None
    found = moves(spec, case.brief["group"], profile, case.device, case.workload)
    return tuple(move for move in found if not another_seeds(move, spec, case.brief))


def another_seeds(move: Move, spec: KernelSpec, brief: dict[str, Any]) -> bool:
    """Whether it makes of a kernel of one region what another seed has been told to write."""
    names = [edits["structure"].get("name") for edits in move.edits.values() if "structure" in edits]
    return len(spec.regions) == 1 and any(name in brief["seeded"] for name in names)


def _stop(why: str) -> Call:
    return Call("not_worth_it", {"why": why}, "Nothing to gain here.")


def _why_not(case: Case, options: list[Move]) -> str:
    group, tried = case.brief["group"], len(case.brief["tried"])
    if options:
        best = max(options, key=lambda move: move.expected_gain)
        return f"the best {group} change left ({best.change}) is expected to save {best.expected_gain:.0%}"
    return f"the expert knows no {'other ' if tried else ''}{group} change for this kernel"
