"""Counters that Nsight Compute read of kernels on an H200 (tests/data/h200-counters.json), and what they mean."""

import json
from pathlib import Path

import pytest

from egg.state.bottleneck import BottleneckKind as K
from egg.state.evaluation import Launch
from tests.tools.test_bottleneck import DATASHEET, STREAM, found, kernel

COUNTED = {
    row["kernel"]: row["counters"]
    for row in json.loads((Path(__file__).parents[1] / "data" / "h200-counters.json").read_text())
}
SPILLING = STREAM.model_copy(
    update={"grid": (4096, 1, 1), "warps": 1, "registers": 64, "spills": 32000, "occupancy": 0.5, "waves": 0.97,
            "bytes": 1 << 29, "loaded_bytes": float(1 << 28), "stored_bytes": float(1 << 28)}
)  # fmt: skip
MEANT: dict[str, list[tuple[K, str, str]]] = {
    "double": [(K.MEMORY_BANDWIDTH, "structure", "")],
    "copied": [(K.MEMORY_BANDWIDTH, "structure", "")],
    "tiny": [(K.LAUNCH_BOUND, "structure", "")],
    "spilling": [(K.SPILLS, "tiling", "registers"), (K.MEMORY_BANDWIDTH, "structure", "")],
    "summed": [(K.TOO_FEW_PROGRAMS, "mapping", "")],
    "uneven": [(K.IMBALANCE, "mapping", ""), (K.COMPUTE, "structure", "issue slots")],
    "rereading": [(K.L2, "tiling", "throughput")],
    "chasing": [(K.L2, "memory", "throughput")],  # words of four bytes, each from a sector of its own
    "crowded": [(K.OCCUPANCY, "tiling", "registers")],
    "computing": [(K.L1, "tiling", "throughput")],  # a product in fp32
    "starving": [(K.TENSOR_PIPE_STARVED, "memory", "")],
}


@pytest.mark.parametrize("name", COUNTED)
def test_a_kernels_counters_alone(name: str) -> None:
    launch: Launch | None = SPILLING if name == "spilling" else None
    seen = kernel(launch, COUNTED[name]["duration"] / 1e6, counters=COUNTED[name], own=True)
    bottlenecks = found(seen, ceilings=DATASHEET)
    assert [(one.kind, one.stage, one.limiter) for one in bottlenecks] == MEANT[name]
