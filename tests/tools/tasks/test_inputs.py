"""Inputs, states and outputs of a call: drawn as said, the same for both sides, put back afterwards."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from egg.tools.tasks.cases import DRAW, Case, case_inputs, strided
from egg.tools.tasks.memory import digest
from egg.tools.tasks.module import load_inputs
from egg.tools.tasks.raw import dump, read
from egg.tools.tasks.slices import by_slices
from egg.tools.tasks.traits import is_random, scales_with_inputs, sums_exactly
from egg.tools.tasks.weights import Weights


def case(kind: str, **more: Any) -> Case:
    return {"kind": kind, "seed": 5, "draw": 5, "weights": "own", "strided": False, **more}  # type: ignore[typeddict-item]


def reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, init: str = "pass") -> Any:
    from egg.tools.tasks.reference import Reference

    monkeypatch.chdir(tmp_path)
    source = f"""
import torch
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init}
    def forward(self, x, y):
        return {body}
def get_inputs():
    return [torch.rand(8, 40), torch.rand(8, 40)]
"""
    return Reference(source, "stock", 3, "cpu")


def test_heavy_tails_are_planted_at_random_and_at_the_end() -> None:
    drawn = [DRAW["heavy"](torch.Size((50, 70)), torch.Generator().manual_seed(seed)) for seed in range(8)]
    assert all(float(x.view(-1)[-1]) == 30.0 and bool((x.view(-1)[-64:-1].abs() == 30.0).any()) for x in drawn)
    places = [tuple((x.view(-1)[:-64].abs() > 12).nonzero().flatten().tolist()) for x in drawn]
    assert len(set(places)) == len(places)


def test_rows_differ_in_size_by_far() -> None:
    rows = DRAW["rows"](torch.Size((64, 256)), torch.Generator().manual_seed(1)).square().mean(1).sqrt()
    assert rows.max() > 0.5 and rows.min() < 2.0**-18


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (1, 7)])
@pytest.mark.parametrize("number", [0, 1])
def test_strided_inputs_hold_the_same_values(shape: tuple[int, ...], number: int) -> None:
    plain = torch.randn(shape)
    laid = strided(plain, number)
    assert torch.equal(laid, plain) and not laid.is_contiguous()


def test_masks_and_integers_are_not_redrawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mask, index = torch.tril(torch.ones(4, 4)), torch.arange(6)
    module: Any = SimpleNamespace(get_inputs=lambda: [torch.rand(4, 4), mask, index])
    drawn = case_inputs(module, case("normal"), "cpu")
    assert torch.equal(drawn[1], mask) and torch.equal(drawn[2], index) and float(drawn[0].min()) < 0


def test_what_makes_inputs_is_all_that_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    head = "import torch\nfrom torch import nn\nclass Part(nn.Module): pass\nclass Model(Part): pass\n"
    alone = load_inputs({"problem": head + "def get_inputs():\n    return [torch.rand(3)]\n"})
    assert not hasattr(alone, "Model") and not hasattr(alone, "Part") and len(alone.get_inputs()) == 1
    needed = load_inputs({"problem": head + "def get_inputs():\n    Part()\n    return [torch.rand(3)]\n"})
    assert hasattr(needed, "Part")


def test_weights_move_alike_on_both_sides_and_back() -> None:
    class Pair(torch.nn.Module):
        def __init__(self, first: str, second: str) -> None:
            super().__init__()
            for name in (first, second):
                self.register_parameter(name, torch.nn.Parameter(torch.full((3, 4), float(len(name)))))
            self.register_buffer("mean", torch.arange(3.0))
            self.register_buffer("mask", torch.tensor([0.0, 1.0, 1.0]))

    one, other = Pair("a", "bb"), Pair("bb", "a")
    before = {name: value.clone() for name, value in one.state_dict().items()}
    states = [Weights(one), Weights(other)]
    for state in states:
        state.put("moved", 7)
    moved = one.state_dict()
    assert all(torch.equal(value, other.state_dict()[name]) for name, value in moved.items())
    assert {name for name in moved if torch.equal(moved[name], before[name])} == {"mask"}
    states[0].put("integers", 7)
    assert torch.equal(one.a, one.a.round()) and torch.equal(one.mean, before["mean"])
    states[0].put("own", 7)
    assert all(torch.equal(value, before[name]) for name, value in one.state_dict().items())


def test_a_digest_sees_every_bit_and_every_place() -> None:
    plain = torch.randn(1001)
    seen = {digest(plain)}
    for place in (0, 500, 1000):
        changed = plain.clone()
        changed.view(torch.int32)[place] ^= 1
        seen.add(digest(changed))
    seen |= {digest(plain.flip(0)), digest(plain.view(7, 143)), digest(plain.view(torch.int32))}
    assert len(seen) == 7 and digest(plain.clone()) in seen


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.bool, torch.int64])
def test_files_give_back_what_was_written(tmp_path: Path, dtype: torch.dtype) -> None:
    value = torch.randint(0, 2, (3, 5)).to(dtype).T
    (entry,) = dump(value, tmp_path, "out")
    back = read(entry, tmp_path, "cpu")
    assert back is not None and back.dtype == dtype and torch.equal(back, value)
    assert read({**entry, "shape": [5, 4]}, tmp_path, "cpu") is None
    assert read({**entry, "file": "../out-0.raw"}, tmp_path, "cpu") is None


EXACT = {"x + y": True, "x @ y.T": True, "x.sum(1) - y.sum(1)": True, "torch.relu(x) + y": False, "x / 3 + y": False}
EXACT |= {"torch.softmax(x, 1) + y": False, "x.mean(1) + y.mean(1)": False, "x * 1e9 + y": False}


@pytest.mark.parametrize("body", EXACT)
def test_linear_problems_are_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    model, integers = reference(tmp_path, monkeypatch, body), case("integers")
    usual = model.usual(integers).output
    assert sums_exactly(model, integers, usual, model.exact(integers, usual)) is EXACT[body]


SCALING = {
    "x + y": True,
    "x @ y.T": True,
    "torch.relu(x) * 3 + y": True,
    "torch.tanh(x) + y": False,
    "x + 1 + y": False,
}


@pytest.mark.parametrize("body", SCALING)
def test_problems_that_scale_with_their_inputs_are_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    assert scales_with_inputs(reference(tmp_path, monkeypatch, body), case("own")) is SCALING[body]


@pytest.mark.parametrize(
    ("body", "random"), [("torch.dropout(x, 0.5, True)", True), ("x + torch.randn(8, 40) * 0", False)]
)
def test_random_problems_are_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, random: bool
) -> None:
    assert is_random(reference(tmp_path, monkeypatch, body), case("own")) is random


def test_slices_are_used_where_the_batch_allows_it_and_nowhere_else() -> None:
    x, w = torch.randn(50, 30), torch.randn(30, 20)

    def rows(given: list[Any]) -> Any:
        return torch.softmax(given[0] @ given[1], -1)

    whole = rows([x, w])
    sliced = by_slices(rows, lambda part: rows([t.double() for t in part]), [x, w], whole)
    assert sliced.dtype == torch.float64 and torch.allclose(sliced, rows([x.double(), w.double()]), rtol=1e-14)

    def batch(given: list[Any]) -> Any:
        return given[0] - given[0].mean(0)

    assert by_slices(batch, batch, [x, w], batch([x, w])) is None
    assert by_slices(lambda given: given[0].sum(0), batch, [x, w], x.sum(0)) is None
