"""A kernel built for each bottleneck is recognised: from compiling where that can tell, by counters on a GPU."""

from pathlib import Path

import pytest

from egg.state.bottleneck import BottleneckKind
from egg.state.device import Device
from egg.state.profile import Profile
from egg.state.settings import Policy
from egg.tools.bottleneck import classify
from egg.tools.ceilings import ceilings
from egg.tools.device import detect_device
from egg.tools.place import placed
from egg.tools.profile import profile_forward
from egg.tools.store import Store
from tests.tools.bottlenecked import BUILT, CANDIDATE, COUNTED, problem


def recognised(profile: Profile, device: Device) -> dict[str, set[BottleneckKind]]:
    found: dict[str, set[BottleneckKind]] = {name: set() for name in BUILT}
    rates = ceilings(device)
    for bottleneck in classify(placed(profile, device, rates), device, rates):
        if bottleneck.kernel in found:
            found[bottleneck.kernel].add(bottleneck.kind)
    return found


@pytest.mark.slow
def test_from_the_static_profile(tmp_path: Path) -> None:
    device = detect_device("sm_90").model_copy(update={"present": False})
    profile = profile_forward(problem(), CANDIDATE, device, Policy.TF32, Store(tmp_path))
    assert profile.source == "estimate" and {kernel.kernel for kernel in profile.kernels} == {*BUILT}
    found = recognised(profile, device)
    assert not {name: found[name] for name, kind in BUILT.items() if kind not in found[name] and name not in COUNTED}


@pytest.mark.gpu
def test_on_the_gpu(tmp_path: Path) -> None:
    device = detect_device(None)
    profile = profile_forward(problem(), CANDIDATE, device, Policy.TF32, Store(tmp_path))
    assert profile.source == "counters", profile.note
    found = recognised(profile, device)
    for name in ("copied", "computing"):  # as good as can be, perhaps
        found[name] = {BUILT[name] if kind is BottleneckKind.AT_CEILING else kind for kind in found[name]}
    figures = {kernel.kernel: (kernel.call_ms, kernel.counters) for kernel in profile.kernels}
    missed = {name: (found[name], figures[name]) for name, kind in BUILT.items() if kind not in found[name]}
    assert not missed, profile.note
