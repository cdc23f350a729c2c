"""On a GPU: the static profile's resources are those that the driver tells of the kernels it has loaded."""

from pathlib import Path

import pytest

from egg.state.settings import Policy
from egg.tools.compile import static_profile
from egg.tools.device import detect_device
from egg.tools.sandbox.client import Bounds, run
from egg.tools.store import Store
from tests.tools.profiled import PRODUCT, SCALE, candidate, problem

pytestmark = pytest.mark.gpu

FORWARDS = {
    "plain": (SCALE, "y = torch.empty_like(x)\ndouble[(512,)](x, y, x.numel(), BLOCK=1024)\nreturn y"),
    "spilling": (
        SCALE.replace("v * 2", "v * tl.sum(v * v, 0)"),
        "y = torch.empty_like(x)\ndouble[(512,)](x, y, x.numel(), BLOCK=1024, num_warps=1, maxnreg=24)\nreturn y",
    ),
    "product": (
        PRODUCT.replace(', triton.Config({"BM": 128}, num_warps=8)', ""),
        "y = torch.empty_like(x)\nproduct[(x.shape[0] // 64, 8)](x, self.fc.weight, y, 512, 512)\nreturn y",
    ),
}


@pytest.mark.parametrize("name", sorted(FORWARDS))
def test_resources_are_the_drivers(name: str, tmp_path: Path) -> None:
    device, source = detect_device(None), candidate(*FORWARDS[name])
    (launch,) = static_profile(problem(), source, device, Policy.TF32, Store(tmp_path)).launches
    bounds = Bounds(seconds=180, memory_bytes=32 << 30)
    (loaded,) = run("tests.tools.loaded_child:loaded", {"source": source}, bounds).require("loading it")["kernels"]
    assert loaded == {
        "name": launch.kernel,
        "registers": launch.registers,
        "stack_bytes": launch.stack_bytes,
        "shared_bytes": launch.shared_bytes,
        "warps": launch.warps,
    }
    assert (launch.spills > 0) == (name == "spilling")
