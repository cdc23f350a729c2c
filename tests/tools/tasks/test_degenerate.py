"""Poor tests are told from the problem itself."""

from pathlib import Path

import pytest
import torch

from egg.state.problem import AT_STOCK, Workload
from egg.tools.tasks.chance import OWN_DRAWS, judge_draws
from egg.tools.tasks.degenerate import signs
from egg.tools.tasks.form import contiguous, overlapping

PROBLEM = """
import torch
from torch import nn
BATCH = 64
WIDTH = {width}
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(WIDTH))
    def forward(self, x):
        return {body}
def get_inputs():
    return [torch.rand(BATCH, WIDTH)]
"""
SIGNS = {
    ("torch.softmax(x, 1)", 300000): {
        AT_STOCK + "zeros pass for the output",
        AT_STOCK + "the output does not depend on the inputs",
        AT_STOCK + "every element of the output is the same",
    },
    ("torch.softmax(x, 1)", 90): set(),
    ("torch.relu(x)", 90): {"the input passes for the output"},
    ("x * 0", 90): {
        "zeros pass for the output",
        "the output does not depend on the inputs",
        "every element of the output is the same",
    },
    ("x * 0 + self.bias", 90): {
        "the output does not depend on the inputs",
        "the output is constant along dimension 0",
    },
    ("x.sum(1, keepdim=True).expand(-1, WIDTH) + 0", 90): {"the output is constant along dimension 1"},
    ("torch.dropout(x, 0.5, True)", 90): {
        "the output is random: the reference disagrees with itself under other random numbers"
    },
    ("x / 0 * 0", 90): {"the output holds no finite number"},
    ("x @ x.T", 90): set(),
}


@pytest.mark.parametrize(("body", "width"), SIGNS)
def test_signs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, width: int) -> None:
    monkeypatch.chdir(tmp_path)
    found = signs(PROBLEM.format(body=body, width=width), "")
    own = {sign for sign in found if not sign.startswith(AT_STOCK)}
    assert SIGNS[body, width] <= set(found)
    assert own == {sign for sign in SIGNS[body, width] if not sign.startswith(AT_STOCK)}
    if not SIGNS[body, width]:
        assert not found


def test_what_only_a_tolerance_passes_still_needs_its_inputs() -> None:
    sign = "zeros pass for the output"
    plain = Workload(
        inputs=(), outputs=(), parameters=0, flops=0, matmul_flops=0, min_bytes=0, regions=(), structures=()
    )
    assert plain.model_copy(update={"degenerate": (sign,)}).needs_no_inputs
    assert not plain.model_copy(update={"degenerate": (AT_STOCK + sign,)}).needs_no_inputs


def test_draws_are_compared_by_distribution() -> None:
    x = torch.rand(2000) + 0.5

    def dropped(share: float, seed: int, count: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(seed)
        keep = torch.rand(count, 2000, generator=generator) > share
        return x * keep / (1 - share)

    usual = dropped(0.2, 0, OWN_DRAWS)
    verdicts = [judge_draws(dropped(0.2, seed, 8), usual).text for seed in range(1, 21)]
    assert verdicts == [""] * 20
    for wrong in (dropped(0.3, 1, 8), dropped(0.2, 1, 8) * 0.8, x.expand(8, -1), dropped(0.2, 1, 1).expand(8, -1)):
        assert judge_draws(wrong, usual).text
    half = torch.cat([dropped(0.2, 1, 8)[:, :1000], x[1000:].expand(8, -1) * 1.01], 1)
    assert judge_draws(half, torch.cat([usual[:, :1000], x[1000:].expand(OWN_DRAWS, -1)], 1)).text
    assert "NaN" in judge_draws(dropped(0.2, 1, 8) * torch.nan, usual).text


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (torch.empty(3, 4), (True, False)),
        (torch.empty(4, 3).T, (False, False)),
        (torch.empty(3, 1).expand(3, 4), (False, True)),
        (torch.empty(3, 8)[:, ::2], (False, False)),
        (torch.empty(1, 4)[:, :1], (True, False)),
        (torch.empty(20).as_strided((3, 4), (1, 1)), (False, True)),
        (torch.empty(0, 4), (True, False)),
        (torch.empty(()), (True, False)),
    ],
)
def test_layouts(tensor: torch.Tensor, expected: tuple[bool, bool]) -> None:
    entry = {"shape": list(tensor.shape), "stride": list(tensor.stride())}
    assert (contiguous(entry), overlapping(entry)) == expected == (tensor.is_contiguous(), expected[1])
