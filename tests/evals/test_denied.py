"""The choice without counters beside the one with them."""

from pathlib import Path
from typing import Any

import pytest

from egg.evals import denied
from egg.evals.denied import NAMES, both, passed, refusing, summary, told
from egg.state.device import Device
from egg.state.settings import Policy
from egg.tools.counters import collect as module
from egg.tools.counters import program
from egg.tools.counters.collect import collect
from egg.tools.device import detect_device
from egg.tools.sandbox.isolation import in_force
from tests.tools.profiled import DOUBLING, problem


def part(behind: float | None, counted: int = 1) -> dict[str, Any]:
    return {"behind": behind, "same": behind == 0.0, "with": {"counted": counted}, "without": {"note": "no counters"}}


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    for memory in (module._refused, module._failed):
        memory.clear()
    program.known.cache_clear()
    return detect_device("sm_90").model_copy(update={"present": True, "uuid": "GPU-denied"})


def test_the_stand_in_is_refused_as_a_user_without_the_right_is(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "namespaces" not in in_force(False):
        pytest.skip("no namespaces here")
    monkeypatch.setenv("PATH", f"{refusing(tmp_path / 'bin')}:/usr/bin:/bin")
    answer = collect(problem(), DOUBLING, device, Policy.STOCK)
    assert "may not read the GPU's counters" in answer.why and answer.lasting
    module._refused.clear()


def test_a_choice_may_be_little_slower() -> None:
    good = {name: part(0.0) for name in NAMES} | {NAMES[0]: part(0.04), NAMES[1]: part(-0.2)}
    assert passed(summary(good)) and summary(good)["same"] == 4
    assert "+4.0% without counters" in told(summary(good))
    assert not passed(summary(good | {NAMES[0]: part(0.06)}))
    assert not passed(summary(good | {NAMES[0]: part(None)}))
    assert not passed(summary({NAMES[0]: part(0.0)}))


SMALL = '''"""Each row divided by its sum."""

import torch
import torch.nn as nn

ROWS = 512
COLS = 1024


class Model(nn.Module):
    def forward(self, x):
        return x / x.sum(dim=-1, keepdim=True)


def get_inputs():
    return [torch.rand(ROWS, COLS) + 0.5]


def get_init_inputs():
    return []
'''


@pytest.mark.slow
def test_both_runs_end_with_a_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "divided.py").write_text(SMALL)
    monkeypatch.setattr(denied, "PROBLEMS", tmp_path)
    found = both("divided", detect_device("sm_90"), None)
    assert found["behind"] == 0.0 and found["same"], "without a GPU nobody counts"
    assert found["with"]["kernel"] and found["with"]["profiled_by"] == "estimate"
    assert "source" not in found["with"]
