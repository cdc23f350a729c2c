"""Measured once for a GPU, promised by the datasheet for any other, and never a reason to stop."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from egg.state.ceilings import PRECISIONS, Ceilings
from egg.state.device import Device
from egg.state.errors import MachineError
from egg.tools import ceilings as module
from egg.tools.ceilings import ceilings, of_datasheet, read
from egg.tools.device import detect_device
from egg.tools.sandbox.client import Bounds, Reply, run
from egg.tools.store import Store

TOLD: dict[str, Any] = {
    "copy": 4.2e12,
    "read": 4.4e12,
    "l2": 7e12,
    "matrix": {"fp32": 5.2e13, "fp16": 7.9e14, "tf32x3": 9e13},
    "missing": {"int8": "not on this GPU"},
    "repeats": 12,
    "seconds": 3.1,
}


@pytest.fixture
def present(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Device:
    monkeypatch.setenv("EGG_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(module, "_once", module._once.__wrapped__)
    return detect_device("sm_90").model_copy(update={"present": True, "uuid": "GPU-1", "driver": "580.1"})


def answering(monkeypatch: pytest.MonkeyPatch, *replies: Reply) -> list[str]:
    asked: list[str] = []
    left = list(replies)

    def stand_in(task: str, payload: Mapping[str, Any], bounds: Bounds) -> Reply:
        asked.append(task)
        return left.pop(0)

    monkeypatch.setattr(module, "run", stand_in)
    return asked


def test_a_gpu_that_is_not_here_has_its_datasheets() -> None:
    for target in ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"):
        device = detect_device(target)
        found = ceilings(device)
        assert not found.measured and "datasheet" in found.how
        assert found.memory == device.bandwidth and found.l2_rate > found.memory
        assert set(found.matrix) <= set(PRECISIONS)
        assert ("fp8" in found.matrix) == (target not in ("sm_80", "sm_86"))
        assert device.peak["fp32"] <= found.matrix["tf32x3"] <= max(device.peak["tf32"], device.peak["fp32"])


def test_measured_once_for_a_gpu_and_its_driver(present: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch, Reply("done", TOLD), Reply("done", TOLD | {"copy": 1e12}))
    first, again = ceilings(present), ceilings(present)
    assert first == again and len(asked) == 1
    assert first.measured and first.memory == 4.4e12 and "int8: not on this GPU" in first.how
    other = ceilings(present.model_copy(update={"driver": "590.2"}))
    assert len(asked) == 2 and other.copy_rate == 1e12


def test_what_fails_is_said_and_tried_again(present: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch, Reply("timeout", error="no answer within 240 s"), Reply("done", TOLD))
    first = ceilings(present)
    assert not first.measured and "no answer within 240 s" in first.how
    assert first.matrix == of_datasheet(present).matrix
    assert ceilings(present).measured and len(asked) == 2


@pytest.mark.parametrize(
    "spoil",
    [
        lambda told: told.pop("copy"),
        lambda told: told.update(read=-1.0),
        lambda told: told.update(matrix=[]),
        lambda told: told.update(l2="fast"),
        lambda told: told.update(copy=float("nan")),
    ],
)
def test_a_measurement_that_makes_no_sense_is_none(spoil: Callable[[dict[str, Any]], object]) -> None:
    told = {**TOLD, "matrix": dict(TOLD["matrix"])}
    spoil(told)
    with pytest.raises(MachineError):
        read(told)


def test_its_kernels_compute_what_they_should() -> None:
    found = run("tests.tools.tasks.ceiling_kernels:work", {}, Bounds(seconds=60), interpret=True).require("kernels")
    assert found["sums"] == [True, True] and found["error"] < 1e-3


@pytest.mark.gpu
def test_on_a_gpu_ceilings_are_near_the_datasheet_and_below_it(tmp_path: Path) -> None:
    device = detect_device(None)
    found = module._measured(device)
    print(found.model_dump_json(indent=1))
    promised = of_datasheet(device)
    assert found.measured and Store(cache=tmp_path).get("ceilings", {}, Ceilings, lambda: found) == found
    assert 0.5 * promised.memory < found.memory < 1.05 * promised.memory
    assert found.l2_rate > found.memory
    for name in ("fp32", "tf32", "fp16", "bf16"):
        assert 0.4 * promised.matrix[name] < found.matrix[name] < 1.1 * promised.matrix[name]
    assert found.matrix["tf32x3"] > 0.8 * found.matrix["fp32"]
