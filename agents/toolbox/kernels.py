"""Tools that write, compile and check a kernel."""

from typing import Annotated, Any

from langchain_core.tools import ToolException, tool

from egg.agents.figures import profile_text
from egg.agents.sources import keep, source_of, tidy
from egg.agents.toolbox.bench import Answer, AnySource, Runtime, Source, refused, source_meant, state_of, store_of
from egg.state.candidate import kernel_id
from egg.state.evaluation import Evaluation
from egg.state.run import AgentState
from egg.tools.compile import static_profile as profile_statically
from egg.tools.correctness import verify
from egg.tools.errors import CandidateError
from egg.tools.expert import spec_of, write_kernel

Edits = Annotated[
    dict[str, dict[str, dict[str, Any]]] | None,
    "Changes to the decisions on the `# egg:` line of the kernel in force: {region: {group: {parameter: value}}}",
]


@tool(response_format="content_and_artifact")
def expert_skeleton(
    runtime: Runtime,
    structure: Annotated[str | None, "An algorithmic structure named in the brief; default: the one asked for"] = None,
    edits: Edits = None,
) -> Answer:
    """Have the expert library write a kernel, and compile it: the one in force with `edits`, or a new one of another
    `structure`.
    """
    state = state_of(runtime)
    _refuse_frozen(state, edits or {})
    known = state["workload"].structures
    if structure and structure not in known:
        raise ToolException(f"no structure {structure!r} for this problem; there are: {', '.join(known)}")
    base = None if structure and structure != state["structure"] else _base(state)
    decisions = spec_of(base) if base else None
    if base and edits and decisions is None:
        raise ToolException(
            f"kernel {kernel_id(base)} has no `# egg:` line to edit: it was written or changed by hand. Change its "
            "source and compile that; without `edits` the library's own kernel is written anew"
        )
    skeleton = write_kernel(
        state["problem"],
        policy=state["settings"].policy,
        device=state["device"],
        structure=structure or state["structure"],
        spec=decisions,
        edits=edits,
        store=store_of(state),
    )
    source = tidy(skeleton.source)
    stays = f"Stays PyTorch: {'; '.join(skeleton.torch_regions)}." if skeleton.torch_regions else "All of it is Triton."
    told, compiled = _compiled(state, source)
    artifact = {
        **compiled,
        "torch_regions": list(skeleton.torch_regions),
        "regions": [region.name for region in skeleton.spec.regions],
    }
    return f"{told}\n{stays}\n{keep(state, source)}", artifact


@tool(response_format="content_and_artifact")
def compile_kernel(runtime: Runtime, source: Source) -> Answer:
    """Compile a kernel ahead of time for the target: errors, registers, spills, shared memory, occupancy."""
    state = state_of(runtime)
    return _compiled(state, source_of(state, source))


@tool(response_format="content_and_artifact")
def static_profile(runtime: Runtime, source: AnySource = None) -> Answer:
    """Everything about a kernel that can be known without running it: its launches, resources and estimated times.

    The brief says it of the kernel in force already; this is for another one, by its source or its id.
    """
    state = state_of(runtime)
    return _compiled(state, source_meant(state, source))


@tool(response_format="content_and_artifact")
def check_kernel(runtime: Runtime, source: Source) -> Answer:
    """Compare a kernel with the reference on a few inputs: error and budget of each kind. The judge will use more, and
    others.
    """
    state = state_of(runtime)
    whole = source_of(state, source)
    verdict = verify.check(
        state["problem"], whole, state["device"], state["settings"].policy, store_of(state), cases="quick"
    )
    keep(state, whole)
    text = f"Kernel {kernel_id(whole)}: {_correct(verdict) if verdict.ok else f'{verdict.status}: {verdict.feedback}'}"
    return text, {"kernel": kernel_id(whole), "status": str(verdict.status), "feedback": verdict.feedback}


def _correct(verdict: Evaluation) -> str:
    """How much of the error budget each kind of input takes."""
    told = (f"{a.case} error {a.error:.2g} of a budget of {a.budget:.2g}" for a in verdict.accuracy)
    return "; ".join(["correct on the quick cases", *told])


def _compiled(state: AgentState, source: str) -> Answer:
    name = kernel_id(source)
    try:
        profile = profile_statically(
            state["problem"], source, state["device"], state["settings"].policy, store_of(state)
        )
    except CandidateError as error:
        return refused(name, error)
    figures = profile_text(profile, state["baseline"], state["device"])
    text = f"Kernel {name} compiles for {profile.target}.\n{figures}"
    return text, {"kernel": name, "ok": True, "profile": profile.brief().model_dump(mode="json")}


def _base(state: AgentState) -> str | None:
    """The source that edits start from: the broken draft in a repair, else the kernel in force."""
    draft, incumbent = state.get("draft"), state.get("incumbent")
    kernel = draft if state.get("repair") and draft else incumbent
    return kernel.source if kernel else None


def _refuse_frozen(state: AgentState, edits: dict[str, dict[str, Any]]) -> None:
    frozen = sorted({group for changes in edits.values() for group in changes if group in state["spec"].frozen})
    if frozen:
        raise ToolException(f"stage {state['spec'].name} may not change {', '.join(frozen)}: decided by earlier stages")
