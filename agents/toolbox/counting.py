"""The tool that looks at a kernel on the GPU."""

from langchain_core.tools import tool

from egg.agents.figures import diagnosis_text
from egg.agents.insight import reached
from egg.agents.toolbox.bench import Answer, AnySource, Runtime, refused, source_meant, state_of, store_of
from egg.state.candidate import kernel_id
from egg.state.profile import Profile
from egg.tools.diagnosis import diagnose
from egg.tools.errors import CandidateError
from egg.tools.gpu_time import booked
from egg.tools.profile import profile_forward


@tool(response_format="content_and_artifact")
def hardware_counters(runtime: Runtime, source: AnySource = None) -> Answer:
    """Run one forward pass under the GPU's hardware counters: each kernel's time, this stage's counters, how near the
    ceilings it is, what holds it back. Takes seconds. Without a GPU or the right to count it falls back and says so.
    """
    state = state_of(runtime)
    whole = source_meant(state, source)
    device, policy, name = state["device"], state["settings"].policy, kernel_id(whole)
    store = store_of(state)

    def measure() -> Profile:
        return profile_forward(state["problem"], whole, device, policy, store)

    try:
        with booked((state["run_dir"], state["branch"])):
            seen = store.witness("forward", {"kernel": name}, Profile, measure)
    except CandidateError as error:
        return refused(name, error)
    found = diagnose(seen, state["workload"], device, policy, reached(state))
    artifact = {
        "kernel": name,
        "ok": True,
        "source": found.source,
        "headroom": found.headroom,
        "bottlenecks": [bottleneck.model_dump(mode="json") for bottleneck in found.bottlenecks],
    }
    return f"Kernel {name}. {diagnosis_text(found, state['spec'].group)}", artifact
