"""Records for tests of the graph."""

from egg.graph.stages import MAPPING
from egg.state.candidate import Candidate
from egg.state.device import Device
from egg.state.evaluation import Baseline, Evaluation, StaticProfile, Status
from egg.state.problem import Problem, TensorSpec, Workload
from egg.state.settings import Limits, Settings

DEVICE = Device(
    name="test",
    target="sm_90",
    present=False,
    multiprocessors=132,
    shared_bytes=232448,
    shared_bytes_sm=233472,
    registers_sm=65536,
    threads_sm=2048,
    blocks_sm=32,
    l2_bytes=50 << 20,
    memory_bytes=80 << 30,
    bandwidth=4e12,
    peak={"fp32": 6e13, "tf32": 4e14, "fp16": 8e14, "bf16": 8e14, "int8": 1.6e15},
    rates_from="test",
    software={},
)
PROBLEM = Problem(name="p", path="p.py", source="x", digest="0")
TENSOR = TensorSpec(shape=(8, 8), dtype="float32")
WORKLOAD = Workload(
    inputs=(TENSOR,),
    outputs=(TENSOR,),
    parameters=0,
    flops=64,
    matmul_flops=0,
    min_bytes=512,
    regions=(),
    structures=("one_pass", "two_pass", "split"),
)


def verdict(status=Status.OK, estimate_ms=1.0):
    """An evaluation on a machine without a GPU."""
    profile = StaticProfile(target="sm_90", launches=(), estimate_ms=estimate_ms)
    return Evaluation(status=status, feedback="first line\nmore", mode="interpreter", profile=profile)


def candidate(source="k", origin="mapping", **kwargs):
    """A judged candidate."""
    return Candidate(source=source, origin=origin, structure="one_pass", evaluation=verdict(**kwargs))


def run_state(**changes):
    """A run that is ready for its seeds."""
    state = {
        "run_dir": "r",
        "settings": Settings(),
        "problem": PROBLEM,
        "workload": WORKLOAD,
        "device": DEVICE,
        "baseline": Baseline(roofline_ms=0.1, bound="memory"),
        "elapsed_ms": 0,
    }
    return {**state, **changes}


def stage_state(**changes):
    """A mapping stage that has just opened."""
    state = {
        **run_state(),
        "spec": MAPPING,
        "branch": "mapping",
        "structure": "one_pass",
        "history": (),
        "incumbent": candidate(origin="seed-1"),
        "round": 0,
        "repair": 0,
        "plan": None,
        "draft": None,
        "diagnosis": None,
        "stopped": None,
    }
    return {**state, **changes}


BROKE = Settings(limits=Limits(calls=0))
