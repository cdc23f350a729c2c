"""Reductions, softmax and normalisations: one region each, right in the interpreter, compiled for the target."""

from pathlib import Path

import pytest

from egg.state.settings import Policy
from egg.tools.compile import static_profile
from egg.tools.expert import Skeleton
from egg.tools.store import Store
from egg.tools.workload import analyse
from tests.tools.expert.problems import DEVICE
from tests.tools.expert.row_problems import PROBLEMS
from tests.tools.expert.writing import error, written

CASES = {
    "sum": "online",
    "sum_middle": "split",
    "sum_first": "split",
    "sum_all": "split",
    "mean_apart": "one_pass",
    "mean_edges": "online",
    "amax_long": "split",
    "max_places": "online one_pass",
    "argmin": "one_pass",
    "min_with_nan": "online",
    "std": "two_pass",
    "softmax": "one_pass two_pass",
    "softmax_middle": "online",
    "softmax_long": "split",
    "softmax_half": "one_pass",
    "log_softmax": "online",
    "logsumexp": "split",
    "layer_norm": "one_pass online two_pass",
    "layer_norm_double": "online",
    "layer_norm_planes": "split",
    "bias_residual_layer_norm": "one_pass",
    "rms_norm": "one_pass",
    "rms_norm_spelled": "one_pass",
    "rms_norm_features": "online",
    "rms_norm_bfloat": "online",
    "group_norm": "two_pass split",
    "instance_norm": "two_pass",
    "batch_statistics": "split",
    "normalize": "online",
    "frobenius": "split",
    "softmax_spelled": "one_pass",
    "mean_put_back": "split",
    "standard_score": "two_pass",
    "single_row": "one_pass",
}
"""Every problem, and with it every structure several times; all pairs would take four times as long."""
LOOSE = {"softmax_half": 1e-3, "rms_norm_bfloat": 8e-3, "layer_norm_double": 1e-14}
TIGHT = 4e-7


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def _small(name: str, skeleton: Skeleton) -> Skeleton:
    """The kernel with the small problem's constants in it."""
    source = skeleton.source
    for line in (PROBLEMS[name].small_source or "").splitlines():
        left, equals, _ = line.partition(" = ")
        if equals and left in "ABCD":
            source = "\n".join(line if old.startswith(f"{left} = ") else old for old in source.splitlines())
    return skeleton.model_copy(update={"source": source})


def test_every_problem_has_its_case() -> None:
    assert CASES.keys() == PROBLEMS.keys()


@pytest.mark.parametrize(("name", "structure"), [(name, one) for name in CASES for one in CASES[name].split()])
def test_right_in_the_interpreter(name: str, structure: str, store: Store) -> None:
    assert structure in analyse(PROBLEMS[name], Policy.STOCK, store).structures
    skeleton = written(PROBLEMS[name], store, structure=structure)
    assert skeleton.torch_regions == ()
    assert len(skeleton.spec.regions) == 1
    assert skeleton.spec.regions[0].structure["name"] == structure
    assert error(PROBLEMS[name], _small(name, skeleton)) < LOOSE.get(name, TIGHT)


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
    plain = written(PROBLEMS[name], store, structure=structure)
    edited = written(PROBLEMS[name], store, structure=structure, edits={plain.spec.regions[0].name: changes})
    assert edited.source.splitlines()[1:] != plain.source.splitlines()[1:]
    assert error(PROBLEMS[name], _small(name, edited)) < TIGHT


def test_a_shared_sum_is_written_beside_its_norm(store: Store) -> None:
    """The residual stream leaves from the norm's kernel: it is not read a second time."""
    skeleton = written(PROBLEMS["bias_residual_layer_norm"], store, structure="one_pass")
    assert skeleton.source.count("@triton.jit") == 1
    assert skeleton.source.count("tl.store(") == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "structure"),
    [("layer_norm", structure) for structure in ("one_pass", "online", "two_pass")]
    + [("softmax_long", "split"), ("sum_middle", "online"), ("max_places", "online"), ("batch_statistics", "split")],
)
def test_compiles_for_the_target_without_spills(name: str, structure: str, store: Store) -> None:
    skeleton = written(PROBLEMS[name], store, structure=structure)
    profile = static_profile(PROBLEMS[name], skeleton.source, DEVICE, Policy.STOCK, store)
    assert profile.torch_ops == ()
    assert all(
        launch.spills == 0 and launch.kernel.startswith(skeleton.spec.regions[0].name) for launch in profile.launches
    )
