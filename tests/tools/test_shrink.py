"""Rewriting of size constants; no child is needed for it."""

from egg.tools.shrink import AIM_ELEMENTS, constants, plans, rewrite

SOURCE = '''
"""Sizes: 4096."""
N = 4096  # not 4096 rows
small, (H, W) = 8, (64, 64)
shape = (16, 3, 512)
flag: bool = True
scale: int = 100
text = "4096"

def get_inputs():
    x = torch.rand(N, 777)
    return [x, 4096 * "é", 777]

def other():
    return 999
'''


def test_constants_are_sizes_and_nothing_else() -> None:
    found = constants(SOURCE)
    assert found == {"N": 4096, "shape.0": 16, "shape.2": 512, "scale": 100, "=777": 777, "=4096": 4096}


def test_rewriting_touches_only_the_constants() -> None:
    small = rewrite(SOURCE, {"N": 5, "shape.2": 7, "=777": 9})
    expected = SOURCE.replace("N = 4096", "N = 5").replace("3, 512", "3, 7").replace("777", "9")
    assert small == expected
    assert rewrite(SOURCE, {}) == SOURCE


def test_plans_begin_ragged_and_end_round() -> None:
    full = {"ROWS": 4096, "COLS": 8192}
    every = list(plans(full, 4096 * 8192))
    first, last = every[0], every[-1]
    assert all(value % 2 for value in first.values()) and len(set(first.values())) == 2
    assert first["ROWS"] * first["COLS"] < 1.2 * AIM_ELEMENTS
    assert all(value & (value - 1) == 0 for value in last.values())
    assert all(plan[name] <= full[name] for plan in every for name in plan)
    assert len(every) == len({tuple(sorted(plan.items())) for plan in every})


def test_long_dimensions_stay_long() -> None:
    first = next(plans({"ROWS": 128, "COLS": 1 << 20}, 1 << 27))
    assert first["COLS"] > 50 * first["ROWS"]
