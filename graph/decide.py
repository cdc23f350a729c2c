"""What a stage decides, and how it says so: pure functions over a stage's state."""

from egg.graph.unasked import unasked
from egg.state.candidate import Attempt, Candidate
from egg.state.ledger import Decision, Verb
from egg.state.plan import Plan
from egg.state.run import StageState
from egg.state.stage import StageSpec
from egg.tools.expert import spec_of


def accepts(spec: StageSpec, incumbent: Candidate | None, draft: Candidate) -> bool:
    """Whether a judged draft replaces the incumbent: correct, and faster by more than the stage's noise margin."""
    if not (draft.evaluation and draft.evaluation.ok):
        return False
    return incumbent is None or draft.rank_ms < incumbent.rank_ms * (1 - spec.min_gain)


def frozen_violation(spec: StageSpec, incumbent: Candidate | None, draft: Candidate) -> str | None:
    """Why a draft may not be judged: it reopens a decision that an earlier stage has frozen."""
    before, after = incumbent and spec_of(incumbent.source), spec_of(draft.source)
    if not (before and after):
        return None
    then = {region.name: region for region in before.regions}
    for region in after.regions:
        for group in spec.frozen:
            if region.name in then and getattr(region, group) != getattr(then[region.name], group):
                return f"{region.name}: the {group} decisions are frozen in stage {spec.name}; restore them"
    return None


def attempt(draft: Candidate, plan: Plan | None, number: int) -> Attempt:
    """The one line that is kept of a draft."""
    assert draft.evaluation is not None
    return Attempt(
        id=draft.id,
        origin=draft.origin,
        number=number,
        status=draft.evaluation.status,
        rank_ms=draft.rank_ms if draft.evaluation.ok else None,
        change=plan.change if plan else draft.structure,
        note=first_line(draft.evaluation.feedback)[:200],
    )


def milliseconds(candidate: Candidate) -> str:
    """The figure a candidate is ranked by, with its kind: an estimate is always called one."""
    evaluation = candidate.evaluation
    if evaluation is None or not evaluation.ok:
        return "no time"
    if evaluation.timing:
        return f"{candidate.rank_ms:.4g} ms measured"
    return f"{candidate.rank_ms:.4g} ms estimated for {evaluation.profile.target}" if evaluation.profile else "no time"


def decision(state: StageState) -> Decision:
    """The ledger line of a stage that is over."""
    spec, branch, incumbent = state["spec"], state["branch"], state["incumbent"]
    mine = [a for a in state.get("attempts", ()) if a.origin == branch]
    kept = incumbent is not None and incumbent.origin == branch
    plan, stopped = state.get("plan"), state.get("stopped")
    if left_out := state.get("left_out"):
        verb, what, why = Verb.SKIPPED, f"{branch} left out", left_out.reason or "a person did not want it"
        evidence = f"incumbent {milliseconds(incumbent)}" if incumbent else "nothing was tried"
    elif kept:
        assert incumbent is not None
        verb, what = Verb.KEPT, incumbent.rationale or incumbent.structure
        why = f"correct, and better than all {len(mine)} tried here" if len(mine) > 1 else "correct"
        evidence = milliseconds(incumbent)
    elif incumbent is None:
        verb, what, why = Verb.FAILED, state["structure"], stopped or _last_failure(mine)
        evidence = "no kernel passed the judge"
    elif mine:
        verb, what = Verb.ROLLED_BACK, "; ".join(dict.fromkeys(a.change for a in mine))
        why = f"no change saved {spec.min_gain:.0%} of the time" + (f"; {stopped}" if stopped else "")
        evidence = f"incumbent {milliseconds(incumbent)}"
    else:
        verb, what = Verb.SKIPPED, f"{spec.name} left as it is"
        why = stopped or (plan.why if plan else "") or unasked(state) or "out of budget"
        evidence = (plan.bottleneck if plan else "") or f"incumbent {milliseconds(incumbent)}"
    return Decision(
        step=spec.step,
        stage=branch,
        verb=verb,
        what=what,
        why=why,
        evidence=evidence,
        kernel=incumbent.id if incumbent else None,
        tried=tuple(_line(a) for a in mine),
        hints=state.get("hints", ()),
        review=left_out,
    )


def first_line(feedback: str) -> str:
    """What of a feedback fits into the ledger."""
    return feedback.split("\n", 1)[0]


def _line(attempt: Attempt) -> str:
    figure = f" {attempt.rank_ms:.4g} ms" if attempt.rank_ms is not None else ""
    note = f" ({attempt.note})" if attempt.note and attempt.rank_ms is None else ""
    return f"{attempt.id} {attempt.status}{figure}: {attempt.change}{note}"


def _last_failure(mine: list[Attempt]) -> str:
    return f"{mine[-1].status}: {mine[-1].note}" if mine else "nothing was submitted"
