"""The stages, in order. EGG (ICML 2026): algorithmic structure first, then mapping, tiling and memory."""

from egg.state.stage import StageSpec

SEED = StageSpec(
    name="seed",
    step=1,
    group="structure",
    goal="Write a correct kernel with the structure named in the brief, then make at most one structural change.",
    metrics=("launches", "bytes", "tensor_core", "torch_ops"),
    rounds=2,
    repairs=3,
    min_gain=0.0,
)
CHOOSE_STEP = 2
MAPPING = StageSpec(
    name="mapping",
    step=3,
    group="mapping",
    goal="Decide which dimensions go to which grid axis, the work of one program, persistence and program order.",
    metrics=("grid", "waves", "occupancy"),
    rounds=3,
    repairs=1,
    min_gain=0.02,
)
TILING = StageSpec(
    name="tiling",
    step=4,
    group="tiling",
    goal="Decide block shapes and warps.",
    metrics=("occupancy", "limiter", "registers", "spills", "shared_bytes"),
    rounds=3,
    repairs=1,
    min_gain=0.02,
)
MEMORY = StageSpec(
    name="memory",
    step=5,
    group="memory",
    goal="Decide pipelining stages, vector width, layout and eviction.",
    metrics=("stages", "shared_bytes", "occupancy", "bytes"),
    rounds=3,
    repairs=1,
    min_gain=0.02,
)
CONFIRM_STEP = 6
TUNING = (MAPPING, TILING, MEMORY)
