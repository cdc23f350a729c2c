"""How proposals read, and that no spec, however old, stops the run that asks for them."""

import pytest

from egg.state.problem import Workload
from egg.state.settings import Policy
from egg.state.stage import GROUPS, Group
from egg.tools.expert import KernelSpec, moves
from egg.tools.expert.kinds import kinds
from egg.tools.expert.spec import RegionSpec
from tests.tools.expert.problems import DEVICE

WORKLOAD = Workload.model_construct()
REGION = RegionSpec(
    name="r0_norm",
    kind="rows",
    structure={"name": "online", "method": "tf32"},
    mapping={"persistent": False},
    tiling={"BLOCK": 1024, "num_warps": 4},
)


def all_moves(region: RegionSpec, group: Group) -> int:
    spec = KernelSpec(policy=Policy.STOCK, structure="fused", regions=(region,))
    return len(moves(spec, group, None, DEVICE, WORKLOAD))


@pytest.mark.parametrize(
    ("group", "values", "change"),
    [
        ("structure", {"name": "one_pass"}, "r0_norm: structure online -> one_pass"),
        ("structure", {"name": "online", "method": "tf32x3"}, "r0_norm: method tf32 -> tf32x3"),
        ("mapping", {"persistent": True, "programs_per_sm": 2}, "r0_norm: persistent on, programs_per_sm = 2"),
        ("tiling", {"BLOCK": 2048, "num_warps": 4}, "r0_norm: BLOCK 1024 -> 2048"),
    ],
)
def test_a_change_reads_as_what_it_does(group: Group, values: dict[str, object], change: str) -> None:
    move = REGION.move(group, values, "because", "memory", 2.0)
    assert move.change == change
    assert move.edits == {"r0_norm": {group: {k: v for k, v in values.items() if REGION.group(group).get(k) != v}}}
    assert move.expected_gain == 0.95


def test_what_no_longer_fits_changes_along() -> None:
    move = REGION.move("structure", {"name": "split"}, "because", "occupancy", 0.2, {"mapping": {"SPLITS": 4}})
    assert move.edits == {"r0_norm": {"structure": {"name": "split"}, "mapping": {"SPLITS": 4}}}


@pytest.mark.parametrize("kind", [kind.name for kind in kinds()])
@pytest.mark.parametrize("group", GROUPS)
def test_a_spec_without_decisions_costs_no_run(kind: str, group: Group) -> None:
    bare = RegionSpec(name="r0_any", kind=kind, structure={"name": "fused"})
    odd = bare.model_copy(update={"tiling": {"BLOCK": "large", "num_warps": None}})
    assert all_moves(bare, group) + all_moves(odd, group) >= 0


def test_an_older_spec_of_a_kind_still_gets_proposals() -> None:
    assert all_moves(RegionSpec(name="r0_rope", kind="rope", tiling={"ROWS": 16}), "tiling") > 0
