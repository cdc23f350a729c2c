"""Expressions that hold at both sizes."""

from hypothesis import given
from hypothesis import strategies as st

from egg.tools.expert.unify import Source, express, literal

SIZES = st.integers(1, 5000)


class Shape:
    def __init__(self, *sizes: int) -> None:
        self.shape = sizes


def value(text: str, *sizes: int) -> float:
    return float(eval(text, {"x": Shape(*sizes)}))


@given(st.lists(st.tuples(SIZES, SIZES), min_size=1, max_size=4), st.data())
def test_products_and_quotients(pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    sources = [Source(f"x.shape[{i}]", *pair) for i, pair in enumerate(pairs)]
    i, j = (data.draw(st.integers(0, len(pairs) - 1)) for _ in range(2))
    full, small = (pairs[i][k] * pairs[j][k] for k in (0, 1))
    text = express(full, small, sources)
    assert text is not None
    assert value(text, *(pair[0] for pair in pairs)) == full
    assert value(text, *(pair[1] for pair in pairs)) == small


@given(SIZES, SIZES)
def test_scales(full: int, small: int) -> None:
    text = express(full**-0.5, small**-0.5, [Source("x.shape[0]", full, small)])
    assert text is not None
    assert abs(value(text, full) - full**-0.5) < 1e-12
    assert abs(value(text, small) - small**-0.5) < 1e-12


def test_a_number_that_does_not_follow_the_sizes_is_itself() -> None:
    assert express(3, 3, [Source("x.shape[0]", 3, 3)]) == "3"
    assert express(True, True, []) == "True"
    assert literal(float("-inf")) == 'float("-inf")'


def test_nothing_is_made_up() -> None:
    assert express(17, 5, [Source("x.shape[0]", 64, 8)]) is None
