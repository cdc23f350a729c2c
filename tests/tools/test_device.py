"""The table of targets, and what a run is told about the machine."""

import typing

import pytest

from egg.state.errors import UserError
from egg.state.settings import Target
from egg.tools import datasheet
from egg.tools.device import detect_device


def test_every_target_a_user_may_name_has_limits_and_a_product() -> None:
    assert set(typing.get_args(Target)) == set(datasheet.LIMITS) == {sheet.target for sheet in datasheet.SHEETS}


@pytest.mark.parametrize("target", sorted(datasheet.LIMITS))
def test_a_named_target_is_compiled_for(target: str) -> None:
    device = detect_device(target)
    assert device.target == target and device.multiprocessors > 50
    assert device.shared_bytes == device.shared_bytes_sm - (0 if device.amd else 1024)
    assert device.peak["fp16"] >= device.peak["tf32"] >= device.peak["fp32"] * 0.99
    assert {"torch", "triton", "python"} <= set(device.software)


def test_an_unknown_target_names_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"unknown target 'sm_70'; known: sm_80.*sm_90") as raised:
        detect_device("sm_70")
    assert "\n" not in str(raised.value)


def test_products_are_found_as_the_driver_spells_them() -> None:
    assert datasheet.of_name("NVIDIA H200", "sm_90") is datasheet.of_target("sm_90")
    found = datasheet.of_name("NVIDIA H100 80GB HBM3", "sm_90")
    assert found is not None and found.bandwidth < datasheet.of_target("sm_90").bandwidth
    assert datasheet.of_name("NVIDIA Imaginary", "sm_90") is None


@pytest.mark.gpu
def test_the_gpu_here_is_present() -> None:
    device = detect_device(None)
    assert device.present and device.uuid and device.uuid.startswith("GPU-")
    assert device.multiprocessors > 0 and device.l2_bytes > 1 << 20 and device.software["cuda"]
