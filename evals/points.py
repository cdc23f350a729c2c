"""Kernels with some of their numbers varied: what the estimator is measured on.

Values are chosen to spread: good ones, and ones too small, too large or too few, as a search meets them. Kernels of the
expert library are written anew with other decisions; those of tests/honest have the numbers in their text replaced, on
problems of a size that a GPU notices.
"""

from collections.abc import Iterator, Mapping
from itertools import product

from pydantic import Field

from egg.evals.corpus import TESTS
from egg.evals.library import PROBLEMS
from egg.evals.small import load
from egg.state.device import Device
from egg.state.problem import Problem
from egg.state.record import Record
from egg.state.search import Value, Values
from egg.state.settings import Policy
from egg.tools.expert import write_kernel
from egg.tools.problem import load_problem
from egg.tools.store import Store
from egg.tools.tune.apply import sources
from egg.tools.tune.constants import changed

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


class Variant(Record):
    """One point as a kernel."""

    name: str = Field(description="`BLOCK = 1024, num_warps = 4`")
    source: str | None = Field(description="None: the library cannot write it")


FAMILIES = (
    Family(
        name="row_sum",
        kind="row reduction",
        problem="row_sum",
        structure="online",
        grids=({"tiling.BLOCK": (512, 2048, 8192), "tiling.num_warps": (1, 4, 16)},),
    ),
    Family(
        name="log_softmax",
        kind="softmax",
        problem="log_softmax",
        structure="online",
        grids=({"tiling.BLOCK": (1024, 4096, 16384), "tiling.num_warps": (2, 8, 32)},),
    ),
    Family(
        name="layernorm_gelu",
        kind="layer norm",
        problem="layernorm_gelu",
        structure="one_pass",
        grids=(
            {"tiling.num_warps": (1, 2, 4, 8, 16, 32)},
            {"mapping.persistent": (True,), "mapping.programs_per_sm": (1, 2, 4), "tiling.num_warps": (8,)},
        ),
    ),
    Family(
        name="bias_silu_gate",
        kind="pointwise",
        problem="bias_silu_gate",
        structure="fused",
        grids=({"tiling.BLOCK": (128, 512, 2048, 8192), "tiling.num_warps": (1, 4, 16)},),
    ),
    Family(
        name="linear_gelu_tf32",
        kind="GEMM with epilogue",
        problem="linear_gelu",
        structure="tiled",
        policy=Policy.TF32,
        grids=(
            {
                "tiling.BLOCK_M": (64, 128),
                "tiling.BLOCK_N": (32, 128),
                "memory.num_stages": (2, 4),
                "tiling.num_warps": (4,),
            },
            {"tiling.BLOCK_K": (16, 64), "tiling.num_warps": (8,)},
        ),
    ),
    Family(
        name="matmul_residual",
        kind="GEMM with epilogue",
        problem="matmul_residual",
        structure="scaled_fp16",
        grids=(
            {"tiling.BLOCK_K": (32, 64), "memory.num_stages": (1, 2, 3)},
            {"tiling.BLOCK_M": (64,), "tiling.num_warps": (4,), "tiling.BLOCK_N": (32, 64, 128)},
            {"tiling.num_warps": (16,)},
        ),
    ),
    Family(
        name="attention_full",
        kind="attention",
        problem="attention_full",
        structure="flash",
        grids=(
            {"tiling.BLOCK_M": (64,), "tiling.num_warps": (4,), "tiling.BLOCK_N": (16, 32, 64)},
            {"tiling.BLOCK_M": (128,), "tiling.num_warps": (8,), "tiling.BLOCK_N": (16, 32, 64, 128)},
            {"memory.num_stages": (1, 2)},
        ),
    ),
    Family(
        name="cumsum_scaled",
        kind="scan",
        problem="cumsum_scaled",
        structure="scan_rows",
        grids=({"tiling.BLOCK": (512, 2048, 8192), "tiling.num_warps": (2, 8, 32)},),
    ),
    Family(
        name="cross_entropy",
        kind="cross-entropy",
        problem="cross_entropy",
        structure="online_rows",
        grids=({"tiling.BLOCK_C": (512, 2048, 8192), "tiling.num_warps": (1, 4, 16)},),
    ),
    Family(
        name="maxpool_hardswish",
        kind="pooling",
        problem="maxpool_hardswish",
        structure="fused",
        grids=({"tiling.BLOCK": (64, 256, 1024, 4096), "tiling.num_warps": (1, 4, 8)},),
    ),
    Family(
        name="int8_linear",
        kind="int8",
        problem="int8_linear",
        structure="tiled",
        grids=(
            {"tiling.BLOCK_M": (64, 128), "tiling.BLOCK_N": (32, 64, 128), "tiling.num_warps": (4,)},
            {"memory.num_stages": (1, 2, 3, 4)},
        ),
    ),
    Family(
        name="honest_softmax",
        kind="softmax",
        problem="softmax",
        grids=({"block": (64, 256, 1024, 4096), "warps": (1, 4, 16)},),
        texts={"block": "BLOCK=128", "warps": "num_warps=4"},
        sizes={"ROWS": 8192, "COLS": 8192},
    ),
    Family(
        name="honest_transposed",
        kind="pointwise, transposed",
        problem="transposed_input",
        grids=({"block": (8, 16, 32, 64, 128), "warps": (1, 4)},),
        texts={"block": "BLOCK=32", "tile": "cdiv(rows, 32), triton.cdiv(cols, 32)", "warps": "num_warps=4"},
        sizes={"ROWS": 4096, "COLS": 8192},
    ),
)
KERNELS = {"softmax": "softmax_online", "transposed_input": "transposed_input"}
"""Of tests/honest, by problem."""


def problem_of(family: Family) -> Problem:
    """The problem at the size that is measured."""
    if family.structure:
        return load_problem(str(PROBLEMS / f"{family.problem}.py"))
    source = (TESTS / "honest" / "problems" / f"{family.problem}.py").read_text()
    return load(family.name, changed(source, dict(family.sizes)))


def variants(family: Family, problem: Problem, device: Device, store: Store) -> list[Variant]:
    """Every point of a family as a kernel, in its order."""
    points = list(family.points())
    if not family.structure:
        text = (TESTS / "honest" / "kernels" / f"{KERNELS[family.problem]}.py").read_text()
        return [Variant(name=_named(point), source=_replaced(family, text, point)) for point in points]
    skeleton = write_kernel(problem, policy=family.policy, device=device, structure=family.structure, store=store)
    region = skeleton.spec.regions[0]
    full = [{f"{region.name}.{name}": value for name, value in point.items()} for point in points]
    written = sources(problem, skeleton.source, full, device, family.policy, store)
    return [Variant(name=_named(point), source=source) for point, source in zip(points, written, strict=True)]


def _replaced(family: Family, text: str, point: Mapping[str, Value]) -> str:
    """The kernel with its own numbers; one that names no number of warps is given it beside its block.

    Raises:
        ValueError: the kernel does not read as the family says.
    """
    block, warps = point["block"], f"num_warps={point['warps']}"
    if family.texts["block"] not in text:
        raise ValueError(f"{family.name}: no {family.texts['block']} in the kernel")
    if family.texts["warps"] in text:
        text = text.replace(family.texts["warps"], warps)
        text = text.replace(family.texts["block"], f"BLOCK={block}")
    else:
        text = text.replace(family.texts["block"], f"BLOCK={block}, {warps}")
    if tile := family.texts.get("tile"):
        text = text.replace(tile, f"cdiv(rows, {block}), triton.cdiv(cols, {block})")
    return text


def _named(point: Mapping[str, Value]) -> str:
    return ", ".join(f"{name.rpartition('.')[2]} = {value}" for name, value in point.items())


def all_points() -> int:
    """How many there are."""
    return sum(len(list(family.points())) for family in FAMILIES)


def family(name: str) -> Family:
    """By its name; KeyError if there is none."""
    return next(one for one in FAMILIES if one.name == name)
