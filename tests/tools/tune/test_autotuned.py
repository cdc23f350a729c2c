"""Configurations as points: chosen by a slice that can be taken away again."""

import ast

import pytest

from egg.tools.tune.autotuned import ALL, chosen, counts, picked
from tests.tools.tune.written import AUTOTUNED, PLAIN


def test_one_is_chosen_and_another_in_its_place():
    assert chosen(AUTOTUNED) == {"double": ALL} and counts(AUTOTUNED) == {"double": 2}
    second = picked(AUTOTUNED, {"double": 1})
    assert second == AUTOTUNED.replace("configs=CONFIGS,", "configs=CONFIGS[1:2],")
    assert chosen(second) == {"double": 1} and counts(second) == {"double": 2}
    assert picked(picked(second, {"double": 0}), {"double": ALL}) == AUTOTUNED


@pytest.mark.parametrize("configs", ["[C(1), C(2)]", "[C(1)] + [C(2)]", "make()", "[C(i) for i in (1, 2)]"])
def test_however_the_list_is_spelled_the_slice_gives_its_part(configs):
    source = f"@triton.autotune({configs}, key=[])\n@triton.jit\ndef f(): ...\n"
    decorator = ast.parse(picked(source, {"f": 1})).body[0].decorator_list[0]
    names = {"C": lambda i: i, "make": lambda: [1, 2]}
    assert eval(ast.unparse(decorator.args[0]), names) == [2]


def test_a_kernel_without_autotuning_has_none():
    assert chosen(PLAIN) == {} and counts(PLAIN) == {}
    with pytest.raises(KeyError):
        picked(PLAIN, {"double": 0})
