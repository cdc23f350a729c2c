"""Numbers read off a source, and written back without touching anything else."""

import pytest

from egg.tools.tune.constants import changed, constants

SOURCE = '''"""é"""
BLOCK = 128  # bytes before it: ünïcode
WIDE: tl.constexpr = 0x40
DEEP = tl.constexpr(32)
META = dict(num_warps=4, name="é", eps=1e-5)
TABLE = {"ROWS": 2, "fast": True, 3: 4}
TWICE = 1
TWICE = 2
EPS = 1e-6
A = B = 3


def f():
    INSIDE = 7
'''


def test_what_is_found():
    assert constants(SOURCE) == {
        "BLOCK": 128,
        "WIDE": 64,
        "DEEP": 32,
        "META.num_warps": 4,
        "META.name": "é",
        "TABLE.ROWS": 2,
        "TABLE.fast": True,
    }
    assert constants("def (") == {}


def test_only_the_numbers_change():
    new = changed(SOURCE, {"BLOCK": 256, "META.num_warps": 8, "TABLE.fast": False, "DEEP": 16})
    assert new == SOURCE.replace("128", "256").replace("warps=4", "warps=8").replace("True", "False").replace(
        "(32)", "(16)"
    )


def test_two_on_one_line_keep_their_places():
    assert changed('M = {"é": 1, "b": 22, "c": 3}', {"M.é": 4444, "M.c": 5}) == 'M = {"é": 4444, "b": 22, "c": 5}'


@pytest.mark.parametrize("name", ["INSIDE", "TWICE", "EPS", "A", "nothing"])
def test_what_cannot_be_changed_is_no_constant(name):
    with pytest.raises(KeyError):
        changed(SOURCE, {name: 1})
