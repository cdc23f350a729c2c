"""Rules of the profile agent: from what holds the kernel back to the expert's best move that is new and worth it."""

from typing import Any

from egg.agents.rulebook.relief import addressed, relief
from egg.agents.rulebook.step import Call, Case
from egg.state.bottleneck import Bottleneck, BottleneckKind
from egg.state.evaluation import StaticProfile
from egg.tools.diagnosis import nothing_left
from egg.tools.expert import moves
from egg.tools.expert.spec import KernelSpec, Move


def decide(case: Case) -> Call:
    """The next tool call."""
    if searched := case.brief.get("searched"):  # its space holds every move there is
        return _stop(searched)
    if _profile(case) is None and case.last("static_profile") is None:
        return Call("static_profile", {}, "Look before changing anything.")
    spec = case.decisions("decisions")
    if spec is None:
        return _stop("the kernel in force is not the expert library's, so its rules do not apply")
    bottlenecks, headroom = _known(case)
    if why := nothing_left(bottlenecks, headroom, case.brief["group"], case.brief["worth_it"]):
        return _stop(why)
    options = [move for move in _moves(case, spec) if move.change not in case.brief["tried"]]
    if options and _unclear(case, bottlenecks):
        return Call("hardware_counters", {}, "Times alone do not tell what it waits for.")
    room = 1.0 if headroom is None else headroom
    worth = [move for move in options if min(room, move.expected_gain) >= case.brief["worth_it"]]
    if not worth:
        return _stop(_why_not(case, options))
    best = max(worth, key=lambda move: relief(move, bottlenecks))  # of equals the first: the larger gain
    plan = best.model_dump(mode="json", include={"bottleneck", "change", "expected_gain", "why", "edits"})
    if reason := addressed(best, bottlenecks):
        plan["bottleneck"] = reason.told()
    return Call("submit_plan", plan, "The best change that was not tried yet.")


def _profile(case: Case) -> StaticProfile | None:
    """Of the verdict, else of the tool; None where the kernel does not compile."""
    seen = case.last("static_profile")
    told = case.brief.get("profile") or (seen.artifact.get("profile") if seen and seen.artifact.get("ok") else None)
    return StaticProfile.model_validate(told) if told else None


def _known(case: Case) -> tuple[list[Bottleneck], float | None]:
    """Bottlenecks and headroom: of the counters if they were read, else of the verdict."""
    counted = case.last("hardware_counters")
    told = counted.artifact if counted and counted.artifact.get("ok") else case.brief
    found = [Bottleneck.model_validate(bottleneck) for bottleneck in told.get("bottlenecks", [])]
    return found, told.get("headroom")


def _unclear(case: Case, bottlenecks: list[Bottleneck]) -> bool:
    """Whether counters can tell more: a GPU is here, they were not asked for yet, and times blame what is left over."""
    if not case.brief["device"]["present"] or case.last("hardware_counters") is not None:
        return False
    if case.brief["group"] == "structure" or case.brief["tried"]:
        return False
    return not bottlenecks or bottlenecks[0].kind is BottleneckKind.MEMORY_LATENCY


def _moves(case: Case, spec: KernelSpec) -> tuple[Move, ...]:
    found = moves(spec, case.brief["group"], _profile(case), case.device, case.workload)
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
