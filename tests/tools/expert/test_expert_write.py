"""write_kernel from end to end: what it writes computes what the module computes."""

import ast
from pathlib import Path

import pytest

from egg.state.settings import Policy
from egg.tools.expert import moves, spec_of
from egg.tools.expert.region import Region
from egg.tools.expert.spec import RegionSpec
from egg.tools.store import Store
from egg.tools.workload import analyse
from tests.tools.expert.problems import AWKWARD, CHAIN, COLLAPSE, DEVICE, UNTRACEABLE
from tests.tools.expert.writing import error, written


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.mark.parametrize("structure", ["fused", "unfused", "fused_rowwise", "fused_persistent"])
def test_one_source_serves_the_small_size(structure: str, store: Store) -> None:
    skeleton = written(CHAIN, store, structure=structure)
    assert error(CHAIN, skeleton) < 2e-7
    assert any(region.kind == "pointwise" for region in skeleton.spec.regions)
    assert spec_of(skeleton.source) == skeleton.spec


def test_unfused_has_more_regions(store: Store) -> None:
    fused, apart = (written(CHAIN, store, structure=name).spec.regions for name in ("fused", "unfused"))
    assert len(apart) >= len(fused)


def test_source_stands_alone(store: Store) -> None:
    tree = ast.parse(written(CHAIN, store).source)
    modules = {name.name.partition(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for name in n.names}
    assert modules <= {"torch", "triton", "math"}
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    assert set(classes) == {"Block", "ModelNew"}
    methods = [n.name for n in classes["Block"].body if isinstance(n, ast.FunctionDef)]
    assert methods == ["__init__"]
    assert "init_weights" in [n.name for n in classes["ModelNew"].body if isinstance(n, ast.FunctionDef)]


def test_a_region_can_be_left_to_torch(store: Store) -> None:
    first = written(CHAIN, store, structure="fused")
    name = first.spec.regions[0].name
    edits = {name: {"structure": {"name": "torch"}}}
    second = written(CHAIN, store, spec=first.spec, edits=edits)
    assert f"{name}(" not in second.source
    assert any(line.startswith(name) for line in second.torch_regions)
    assert error(CHAIN, second) < 2e-7


def test_edits_reach_the_source(store: Store) -> None:
    first = written(CHAIN, store, structure="fused")
    name = first.spec.regions[0].name
    second = written(CHAIN, store, spec=first.spec, edits={name: {"tiling": {"BLOCK": 256, "num_warps": 2}}})
    assert f"{name.upper()}_META = dict(BLOCK=256, num_warps=2)" in second.source
    assert error(CHAIN, second) < 2e-7


def test_changing_the_structure_starts_the_other_decisions_anew(store: Store) -> None:
    first = written(CHAIN, store, structure="fused")
    name = first.spec.regions[0].name
    second = written(CHAIN, store, spec=first.spec, edits={name: {"structure": {"name": "fused_persistent"}}})
    region = second.spec.region(name)
    assert region is not None and region.mapping["programs_per_sm"] > 0
    assert error(CHAIN, second) < 2e-7


def test_collapse_is_first_and_right(store: Store) -> None:
    workload = analyse(COLLAPSE, Policy.STOCK, store)
    assert workload.structures[0] == "algebraic_collapse"
    skeleton = written(COLLAPSE, store, structure="algebraic_collapse")
    assert error(COLLAPSE, skeleton) < 1e-6
    assert all(region.kind != "gemm" for region in skeleton.spec.regions)


def test_what_cannot_be_traced_stays_as_it_is(store: Store) -> None:
    skeleton = written(UNTRACEABLE, store)
    assert not skeleton.spec.regions and "the whole module" in skeleton.torch_regions[0]
    assert error(UNTRACEABLE, skeleton) == 0.0
    assert analyse(UNTRACEABLE, Policy.STOCK, store).structures == ()


def test_writes_random_numbers_and_views_keep_their_order(store: Store) -> None:
    skeleton = written(AWKWARD, store)
    assert error(AWKWARD, skeleton) < 5e-7
    assert ".chunk(3, -1)" in skeleton.source
    left = " ".join(skeleton.torch_regions)
    assert "sort" in left and "batch_norm" in left and "dropout" in left


def test_a_kind_that_fails_costs_only_its_region(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from egg.tools.expert.pointwise import Pointwise
    from egg.tools.expert.write import Order, write

    real = Pointwise.emit

    def emit(self: Pointwise, region: Region, spec: RegionSpec, policy: Policy) -> str:
        if region.name.startswith("r0_"):
            raise ValueError("cannot")
        return real(self, region, spec, policy)

    monkeypatch.setattr(Pointwise, "emit", emit)
    monkeypatch.chdir(tmp_path)
    skeleton = write(Order(CHAIN.source, CHAIN.small_source, Policy.STOCK, DEVICE, structure="fused"))
    assert any("ValueError: cannot" in line for line in skeleton.torch_regions)
    assert "r1_" in skeleton.source and "def r0_" not in skeleton.source
    assert error(CHAIN, skeleton) < 2e-7


def test_workload_counts(store: Store) -> None:
    workload = analyse(COLLAPSE, Policy.STOCK, store)
    assert workload.matmul_flops == 2 * 2 * 4096 * 2048 * 1024
    assert workload.min_bytes == 4 * (4096 * 2048 + 1024 * 2048 + 1024 + 2 * 4096)
    assert [output.shape for output in workload.outputs] == [(4096,), (4096, 1)]
    assert workload.parameters == 1024 * 2048 + 1024


@pytest.mark.parametrize("group", ["mapping", "tiling", "memory"])
def test_moves_change_what_they_say(group: str, store: Store) -> None:
    skeleton = written(CHAIN, store, structure="fused")
    workload = analyse(CHAIN, Policy.STOCK, store)
    found = moves(skeleton.spec, group, None, DEVICE, workload)  # type: ignore[arg-type]
    assert found, group
    for move in found:
        assert move.group == group and skeleton.spec.edited(move.edits) != skeleton.spec
    assert [m.expected_gain for m in found] == sorted((m.expected_gain for m in found), reverse=True)
