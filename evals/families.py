"""Which kernels the estimator is measured on, and with which numbers.

Values are chosen so that the estimates spread: good ones, and ones too small, too large or too few, as a search meets
them. Kernels that take the same time have no order.
"""

from collections.abc import Iterator
from itertools import product

from pydantic import Field

from egg.state.record import Record
from egg.state.search import Value, Values
from egg.state.settings import Policy

Axes = tuple[dict[str, tuple[Value, ...]], ...]


class Family(Record):
    """One kernel, and grids of values; every point of every grid is one."""

    name: str
    kind: str
    problem: str = Field(description="Stem of the problem file")
    structure: str = Field("", description="Of the expert library's kernel; empty: a kernel of tests/honest")
    policy: Policy = Policy.STOCK
    grids: Axes = Field(description="Values by parameter: `tiling.BLOCK`, or a word of `texts`")
    texts: dict[str, str] = Field({}, description="By word, the text that stands for it in an honest kernel")
    sizes: dict[str, int] = Field({}, description="Constants of the honest kernel's problem, enlarged")

    def points(self) -> Iterator[Values]:
        """All of them, each once."""
        seen: list[Values] = []
        for grid in self.grids:
            for values in product(*grid.values()):
                point = dict(zip(grid, values, strict=True))
                if point not in seen:
                    seen.append(point)
                    yield point


def pairs(one: str, other: str, *values: tuple[int, int]) -> Axes:
    """Two parameters together, point by point."""
    return tuple({one: (first,), other: (second,)} for first, second in values)


BLOCK, WARPS, STAGES = "tiling.BLOCK", "tiling.num_warps", "memory.num_stages"
PERSISTENT, EACH = "mapping.persistent", "mapping.programs_per_sm"
ROWS, COLUMNS, DEPTH = "tiling.BLOCK_M", "tiling.BLOCK_N", "tiling.BLOCK_K"

FAMILIES = (
    Family(
        name="row_sum",
        kind="row reduction",
        problem="row_sum",
        structure="online",
        grids=pairs(
            BLOCK,
            WARPS,
            (2048, 4),
            (1024, 16),
            (16384, 8),
            (8192, 32),
            (1024, 32),
            (128, 8),
            (512, 32),
            (128, 16),
            (8192, 1),
            (128, 32),
        ),
    ),
    Family(
        name="layernorm_gelu",
        kind="layer norm",
        problem="layernorm_gelu",
        structure="one_pass",
        grids=(
            {WARPS: (1, 4, 8, 16, 32)},
            {PERSISTENT: (True,), EACH: (1,), WARPS: (2, 4, 32)},
            {PERSISTENT: (True,), EACH: (4,), WARPS: (2, 32)},
        ),
    ),
    Family(
        name="bias_silu_gate",
        kind="pointwise",
        problem="bias_silu_gate",
        structure="fused",
        grids=pairs(
            BLOCK,
            WARPS,
            (1024, 4),
            (128, 2),
            (1024, 16),
            (64, 1),
            (512, 16),
            (64, 4),
            (256, 16),
            (64, 8),
            (8192, 1),
            (64, 16),
        ),
    ),
    Family(
        name="linear_gelu_tf32",
        kind="GEMM with epilogue",
        problem="linear_gelu",
        structure="tiled",
        policy=Policy.TF32,
        grids=(
            {ROWS: (64, 128), COLUMNS: (32, 128), STAGES: (2, 4), WARPS: (4,)},
            {DEPTH: (16, 64), WARPS: (8,)},
        ),
    ),
    Family(
        name="matmul_residual",
        kind="GEMM with epilogue",
        problem="matmul_residual",
        structure="scaled_fp16",
        grids=(
            {DEPTH: (32, 64), STAGES: (1, 2, 3)},
            {ROWS: (64,), WARPS: (4,), COLUMNS: (32, 64, 128)},
            {WARPS: (16,)},
        ),
    ),
    Family(
        name="attention_full",
        kind="attention",
        problem="attention_full",
        structure="flash",
        grids=(
            {ROWS: (64,), WARPS: (4,), COLUMNS: (16, 32, 64)},
            {ROWS: (128,), WARPS: (8,), COLUMNS: (16, 32, 64)},
            {STAGES: (1, 2)},
        ),
    ),
    Family(
        name="cumsum_scaled",
        kind="scan",
        problem="cumsum_scaled",
        structure="scan_rows",
        grids=pairs(
            BLOCK,
            WARPS,
            (2048, 4),
            (8192, 4),
            (4096, 16),
            (4096, 32),
            (512, 8),
            (16384, 8),
            (2048, 32),
            (512, 16),
            (1024, 32),
            (256, 16),
        ),
    ),
    Family(
        name="cross_entropy",
        kind="cross-entropy",
        problem="cross_entropy",
        structure="online_rows",
        grids=pairs(
            "tiling.BLOCK_C",
            WARPS,
            (512, 2),
            (4096, 16),
            (4096, 32),
            (16384, 8),
            (512, 16),
            (1024, 32),
            (256, 16),
            (512, 32),
            (8192, 1),
            (256, 32),
        ),
    ),
    Family(
        name="maxpool_hardswish",
        kind="pooling",
        problem="maxpool_hardswish",
        structure="fused",
        grids=pairs(
            BLOCK,
            WARPS,
            (256, 4),
            (64, 1),
            (256, 8),
            (512, 16),
            (4096, 8),
            (64, 4),
            (4096, 4),
            (64, 8),
            (2048, 1),
            (64, 16),
        ),
    ),
    Family(
        name="int8_linear",
        kind="int8",
        problem="int8_linear",
        structure="tiled",
        grids=({ROWS: (64, 128), COLUMNS: (32, 64, 128), WARPS: (4,)}, {STAGES: (1, 2, 3, 4)}),
    ),
    Family(
        name="honest_softmax",
        kind="softmax",
        problem="softmax",
        grids=pairs(
            "block",
            "warps",
            (4096, 8),
            (1024, 16),
            (512, 2),
            (64, 1),
            (1024, 32),
            (128, 8),
            (512, 32),
            (64, 8),
            (256, 32),
            (64, 16),
        ),
        texts={"block": "BLOCK=128", "warps": "num_warps=4"},
        sizes={"ROWS": 8192, "COLS": 8192},
    ),
    Family(
        name="honest_transposed",
        kind="pointwise, transposed",
        problem="transposed_input",
        grids=pairs(
            "block",
            "warps",
            (32, 2),
            (16, 4),
            (8, 1),
            (16, 8),
            (8, 4),
            (64, 1),
            (8, 8),
            (128, 1),
            (8, 16),
        ),
        texts={"block": "BLOCK=32", "tile": "cdiv(rows, 32), triton.cdiv(cols, 32)", "warps": "num_warps=4"},
        sizes={"ROWS": 4096, "COLS": 8192},
    ),
    Family(
        name="log_softmax",
        kind="softmax",
        problem="log_softmax",
        structure="online",
        grids=pairs(
            BLOCK,
            WARPS,
            (2048, 4),
            (8192, 4),
            (16384, 8),
            (8192, 32),
            (16384, 32),
            (256, 16),
            (512, 32),
            (32768, 32),
            (256, 32),
        ),
    ),
)
