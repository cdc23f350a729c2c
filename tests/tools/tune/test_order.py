"""Which point comes next."""

from hypothesis import given
from hypothesis import strategies as st

from egg.state.search import Parameter, SearchSpace
from egg.tools.tune.ladder import ladder
from egg.tools.tune.order import following, key_of, outwards, steps

SPACE = SearchSpace(
    parameters=(
        Parameter(name="BLOCK", values=(64, 128, 256, 512)),
        Parameter(name="num_warps", values=(2, 4, 8)),
        Parameter(name="loads", values=("pointer", "tma"), group="memory"),
    )
)
START = {"BLOCK": 128, "num_warps": 4, "loads": "pointer"}


def test_single_steps():
    found = [{n: v for n, v in point.items() if v != START[n]} for point in steps(SPACE, START)]
    assert found == [{"BLOCK": 256}, {"BLOCK": 64}, {"num_warps": 8}, {"num_warps": 2}, {"loads": "tma"}]


def test_outwards_meets_every_point_once_and_the_nearest_first():
    met = [key_of(SPACE, point) for point in outwards(SPACE, START)]
    assert len(met) == len(set(met)) == SPACE.size
    far = [
        abs(SPACE.parameters[0].values.index(b) - 1) + abs(SPACE.parameters[1].values.index(w) - 1) + (loads == "tma")
        for b, w, loads in met
    ]
    assert far == sorted(far)


def test_hints_come_first_and_nothing_twice():
    far = {"BLOCK": 512, "num_warps": 8, "loads": "tma"}
    first = following(SPACE, START, [far, START], [key_of(SPACE, START)], 3, near=True)
    assert first[0] == far and len(first) == 3
    seen = [key_of(SPACE, point) for point in (START, *first)]
    rest = following(SPACE, START, [far], seen, 100, near=True)
    assert len(rest) == 3 and not {key_of(SPACE, point) for point in rest} & set(seen)
    assert len(following(SPACE, START, [], [], 100, near=False)) == SPACE.size


def test_a_stage_sees_its_own_numbers_only():
    assert [p.name for p in SPACE.within("memory").parameters] == ["loads"]
    assert SPACE.within("mapping").size == 1


@given(st.sampled_from(["BLOCK", "BLOCK_M", "num_warps", "num_stages", "ROWS"]), st.integers(0, 5000))
def test_a_ladder_holds_its_own_value_in_ascending_order(name, now):
    values = ladder(name, now, ())
    assert now in values and list(values) == sorted(set(values)) and len(values) <= 5


def test_what_has_no_order_is_only_what_was_proposed():
    assert ladder("loads", "tma", ["pointer"]) == ("pointer", "tma")
    assert ladder("persistent", False, ()) == (False, True)
    assert ladder("pieces", 2, ()) == (2,)
    assert ladder("BLOCK", 96, ()) == (96,)
