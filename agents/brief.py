"""What an agent is told: a system prompt, and a brief as text for an LLM and as JSON for the rulebook.

Only what the stage may see is in it: the task, the ledger, the kernel in force, this stage's own attempts. Nothing in
it depends on the clock or on what was spent, so that the same position always asks the same question.
"""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from egg.agents.figures import diagnosis_text, profile_text, search_text
from egg.agents.guidebook import applying
from egg.agents.prompting import render
from egg.agents.situation import situation
from egg.agents.sources import fenced, reference
from egg.agents.toolbox.submit import may_decline
from egg.state.backbone import Role
from egg.state.candidate import Attempt, Candidate
from egg.state.profile import Profile
from egg.state.run import AgentState
from egg.state.settings import Policy
from egg.state.stage import StageSpec
from egg.tools.expert import spec_of

POLICIES = {
    Policy.STOCK: "PyTorch's own flags: IEEE products, TF32 convolutions",
    Policy.IEEE: "TF32 off everywhere",
    Policy.TF32: "TF32 products and convolutions",
}
"""Of the reference. A kernel may use any method that keeps to the error budget."""
WEIGHTY = 0.02
"""Share of the time below which a kernel's bottlenecks are not worth a line."""


def brief(role: Role, state: AgentState, insight: Profile | None = None) -> list[AnyMessage]:
    """The messages that an agent starts from. `insight` is what the verdict on the kernel in force tells of it."""
    insight = insight and _weighty(insight)
    system = SystemMessage(render(f"{role}_system", **_standing(state)))
    told = diagnosis_text(insight, state["spec"].group) if insight else None
    return [system, HumanMessage(render(f"{role}_brief", **_texts(state, insight), diagnosed=told))]


def with_facts(role: Role, state: AgentState, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The messages with the brief's JSON on the first of them, where the rulebook looks and no provider is sent it.

    It is added at each call rather than kept, because it says again what the state says.
    """
    first, *others = messages
    return [first.model_copy(update={"additional_kwargs": {"brief": facts(role, state)}}), *others]


def facts(role: Role, state: AgentState) -> dict[str, Any]:
    """The brief as JSON. Sources are left out: the kernel in force is named by its id."""
    incumbent, draft = state.get("incumbent"), state.get("draft")
    plan, diagnosis, spec = state.get("plan"), state.get("diagnosis"), state["spec"]
    broken = draft if state.get("repair") and draft else None
    verdict = broken.evaluation if broken else None
    return {
        "role": role,
        "stage": spec.name,
        "group": spec.group,
        "worth_it": worth_it(spec),
        "structure": state["structure"],
        "seeded": list(state["workload"].structures[: state["settings"].seeds]),
        "device": state["device"].model_dump(mode="json"),
        "workload": state["workload"].model_dump(mode="json"),
        "incumbent": incumbent.id if incumbent else None,
        "decisions": _decisions(incumbent),
        "broken": broken.id if broken else None,
        "broken_decisions": _decisions(broken),
        "verdict": {"status": str(verdict.status), "feedback": verdict.feedback} if verdict else None,
        "plan": plan.model_dump(mode="json") if plan else None,
        "diagnosis": diagnosis.model_dump(mode="json") if diagnosis and broken else None,
        "tried": [attempt.change for attempt in mine(state)],
        **(_figures(state, incumbent) if role == "profile" else {}),
    }


def _figures(state: AgentState, incumbent: Candidate | None) -> dict[str, Any]:
    """What the verdict on the kernel in force tells, for the agent that decides from it."""
    profile = incumbent.evaluation.profile if incumbent and incumbent.evaluation else None
    return {
        "profile": profile.brief().model_dump(mode="json") if profile else None,
        "bottlenecks": [bottleneck.model_dump(mode="json") for bottleneck in state.get("bottlenecks", ())],
        "headroom": state.get("headroom"),
        "searched": searched.told if (searched := state.get("searched")) else None,
    }


def worth_it(spec: StageSpec) -> float:
    """The expected gain below which a change is not worth a try: a tenth for a structural one (EGG, section 3)."""
    return 0.1 if spec.group == "structure" else spec.min_gain


def mine(state: AgentState) -> tuple[Attempt, ...]:
    """This branch's attempts, in the order in which they were made."""
    own = (attempt for attempt in state.get("attempts", ()) if attempt.origin == state["branch"])
    return tuple(sorted(own, key=lambda attempt: attempt.number))


def other_seeds(state: AgentState) -> dict[str, str]:
    """The structure that each other seed was told to write. They run at the same time: what they found is not known."""
    if state["spec"].group != "structure":
        return {}
    settings, structures = state["settings"], state["workload"].structures
    told = {f"seed-{number}": structure for number, structure in enumerate(structures[: settings.seeds], start=1)}
    if settings.with_model and structures:
        told["the expert library's own seed"] = structures[0]
    return {name: structure for name, structure in told.items() if name != state["branch"]}


def _decisions(kernel: Candidate | None) -> dict[str, Any] | None:
    spec = spec_of(kernel.source) if kernel else None
    return spec.model_dump(mode="json") if spec else None


def _weighty(insight: Profile) -> Profile:
    """Without the bottlenecks of kernels that hardly take any time."""
    kept = tuple(bottleneck for bottleneck in insight.bottlenecks if bottleneck.share >= WEIGHTY)
    return insight.model_copy(update={"bottlenecks": kept})


def _editable(kernel: Candidate | None) -> bool:
    """Whether it still has the decisions that edits change."""
    return kernel is not None and spec_of(kernel.source) is not None


def _standing(state: AgentState) -> dict[str, Any]:
    """What stays the same for a whole stage; it comes first, so that providers can cache it."""
    spec, device = state["spec"], state["device"]
    return {
        "spec": spec,
        "worth_it": worth_it(spec),
        "device": device,
        "policy": state["settings"].policy,
        "policy_means": POLICIES[state["settings"].policy],
        "counters": device.present,
    }


def _texts(state: AgentState, insight: Profile | None) -> dict[str, Any]:
    incumbent, draft = state.get("incumbent"), state.get("draft")
    broken = draft if state.get("repair") and draft else None
    verdict = incumbent.evaluation if incumbent else None
    profile = verdict.profile if verdict else None
    return {
        "problem": state["problem"],
        "workload": state["workload"],
        "baseline": state["baseline"],
        "structure": state["structure"],
        "others": other_seeds(state),
        "history": state["history"],
        "hints": state.get("hints", ()),
        "attempts": mine(state),
        "searched": search_text(searched.told) if (searched := state.get("searched")) else None,
        "incumbent": incumbent,
        "editable": _editable(broken or incumbent),
        "declinable": may_decline(state),
        "tightest": max(verdict.accuracy, key=lambda accuracy: accuracy.used, default=None) if verdict else None,
        "verdict": verdict,
        "profile": profile_text(profile, state["baseline"], state["device"]) if profile else None,
        "broken": broken,
        "plan": state.get("plan"),
        "diagnosis": state.get("diagnosis") if broken else None,
        "guides": applying(situation(state, insight)),
        "fenced": fenced,
        "reference": reference,
    }
