"""Reductions, softmax and normalisations: one region each, right in the interpreter, compiled for the target."""

from pathlib import Path

import pytest

from egg.state.settings import Policy
from egg.tools.compile import static_profile
from egg.tools.expert import Edits, Skeleton, write_kernel
from egg.tools.sandbox.client import run
from egg.tools.store import Store
from egg.tools.workload import analyse
from tests.tools.expert.problems import DEVICE
from tests.tools.expert.row_problems import PROBLEMS

ALL = ("one_pass", "online", "two_pass", "split")
QUICK = [
    ("sum", "online"),
    ("sum_first", "split"),
    ("max_places", "online"),
    ("softmax_long", "split"),
    ("bias_residual_layer_norm", "one_pass"),
    ("layer_norm", "online"),
    ("rms_norm_spelled", "one_pass"),
    ("group_norm", "two_pass"),
    ("batch_statistics", "split"),
]
CASES = [pytest.param(*case, id="-".join(case)) for case in QUICK]
CASES += [
    pytest.param(name, structure, id=f"{name}-{structure}", marks=pytest.mark.slow)
    for name in PROBLEMS
    for structure in ALL
    if (name, structure) not in QUICK
]
LOOSE = {"softmax_half": 1e-3, "rms_norm_bfloat": 8e-3, "layer_norm_double": 1e-14}
TIGHT = 4e-7


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def written(name: str, structure: str, store: Store, edits: Edits | None = None) -> Skeleton:
    return write_kernel(
        PROBLEMS[name], policy=Policy.STOCK, device=DEVICE, structure=structure, edits=edits, store=store
    )


def error(name: str, skeleton: Skeleton) -> float:
    payload = {"problem": PROBLEMS[name].small_source, "kernel": _small(name, skeleton.source)}
    value = run("tests.tools.expert.interpreted:compare", payload, interpret=True).require("compare")["error"]
    assert isinstance(value, float)
    return value


def _small(name: str, source: str) -> str:
    """The kernel's file with the small problem's constants in it."""
    for line in (PROBLEMS[name].small_source or "").splitlines():
        left, equals, _ = line.partition(" = ")
        if equals and left in "ABCD":
            source = "\n".join(line if old.startswith(f"{left} = ") else old for old in source.splitlines())
    return source


@pytest.mark.parametrize(("name", "structure"), CASES)
def test_right_in_the_interpreter(name: str, structure: str, store: Store) -> None:
    if structure not in analyse(PROBLEMS[name], Policy.STOCK, store).structures:
        pytest.skip("not a structure for this size")
    skeleton = written(name, structure, store)
    assert skeleton.torch_regions == ()
    assert len(skeleton.spec.regions) == 1
    assert skeleton.spec.regions[0].structure["name"] == structure
    assert error(name, skeleton) < LOOSE.get(name, TIGHT)


@pytest.mark.parametrize(
    ("name", "structure", "changes"),
    [
        ("layer_norm", "one_pass", {"mapping": {"ROWS": 4}}),
        ("layer_norm", "one_pass", {"mapping": {"ROWS": 2, "persistent": True}, "memory": {"num_stages": 2}}),
        ("softmax_middle", "online", {"tiling": {"BLOCK": 8, "LANES": 4}, "memory": {"eviction": "keep"}}),
        ("standard_score", "two_pass", {"tiling": {"BLOCK": 16}, "memory": {"num_stages": 3}}),
        ("softmax", "two_pass", {"mapping": {"ROWS": 2}, "tiling": {"BLOCK": 8}}),
    ],
)
def test_decisions_change_the_source_not_the_result(
    name: str, structure: str, changes: dict[str, dict[str, object]], store: Store
) -> None:
    plain = written(name, structure, store)
    edited = written(name, structure, store, {plain.spec.regions[0].name: changes})
    assert edited.source.splitlines()[1:] != plain.source.splitlines()[1:]
    assert error(name, edited) < TIGHT


def test_a_shared_sum_is_written_beside_its_norm(store: Store) -> None:
    """The residual stream leaves from the norm's kernel: it is not read a second time."""
    skeleton = written("bias_residual_layer_norm", "one_pass", store)
    assert skeleton.source.count("@triton.jit") == 1
    assert skeleton.source.count("tl.store(") == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "structure"),
    [("layer_norm", s) for s in ALL[:3]]
    + [("softmax_long", "split"), ("sum_middle", "online"), ("max_places", "online"), ("batch_statistics", "split")],
)
def test_compiles_for_the_target_without_spills(name: str, structure: str, store: Store) -> None:
    skeleton = written(name, structure, store)
    profile = static_profile(PROBLEMS[name], skeleton.source, DEVICE, Policy.STOCK, store)
    assert profile.torch_ops == ()
    assert all(
        launch.spills == 0 and launch.kernel.startswith(skeleton.spec.regions[0].name) for launch in profile.launches
    )
