"""Correctness on a GPU: what it costs, problems of many gigabytes, memory that runs out, precision that is sold."""

from time import perf_counter

import pytest

from egg.state.device import Device
from egg.state.errors import MachineError
from egg.state.settings import Policy
from egg.state.status import Status
from egg.tools.correctness.verify import examine
from egg.tools.device import detect_device
from egg.tools.errors import CandidateError
from egg.tools.sandbox.client import prepare

pytestmark = [pytest.mark.gpu, pytest.mark.slow]

HEAD = "import torch\nfrom torch import nn\n"
BODY = "class {name}(nn.Module):\n    def forward(self, *x):\n        {body}\n"
INPUTS = "def get_inputs():\n    return [{inputs}]\n"


@pytest.fixture(scope="module")
def device() -> Device:
    found = detect_device(None)
    prepare(interpret=False)
    return found


def problem(body: str, inputs: str) -> str:
    return HEAD + BODY.format(name="Model", body=body) + INPUTS.format(inputs=inputs)


def candidate(body: str) -> str:
    return HEAD + BODY.format(name="ModelNew", body=body)


PRODUCT = problem("return x[0] @ x[1]", "torch.rand(1024, 4096), torch.rand(4096, 1024)")


@pytest.mark.parametrize(("depth", "most_s"), [("quick", 3.0), ("search", 10.0), ("confirm", 10.0)])
def test_what_a_check_costs(device: Device, depth: str, most_s: float) -> None:
    same = candidate("return x[0] @ x[1]")
    examine(PRODUCT, same, device, Policy.STOCK, "quick", 60.0, whole=False)  # the warm process has started
    began = perf_counter()
    examine(PRODUCT, same, device, Policy.STOCK, depth, 60.0, whole=False)  # type: ignore[arg-type]
    spent = perf_counter() - began
    print(f"{depth}: {spent:.2f} s")
    assert spent < most_s


@pytest.mark.parametrize(
    "body",
    [
        "torch.backends.cuda.matmul.allow_tf32 = True; return x[0] @ x[1]",
        "return (x[0].bfloat16() @ x[1].bfloat16()).float()",
        "return (x[0].half() @ x[1].half()).float()",
    ],
)
@pytest.mark.parametrize("policy", [Policy.STOCK, Policy.IEEE])
def test_precision_is_not_for_sale_on_tensor_cores(device: Device, body: str, policy: Policy) -> None:
    with pytest.raises(CandidateError) as failed:
        examine(PRODUCT, candidate(body), device, policy, "search", 60.0, whole=False)
    assert failed.value.status is Status.MISMATCH


def test_eight_gigabytes_in_and_eight_out(device: Device) -> None:
    rows = problem("return torch.softmax(x[0], -1)", "torch.rand(32768, 65536)")
    began = perf_counter()
    found = examine(
        rows, candidate("return torch.softmax(x[0], -1)"), device, Policy.STOCK, "search", 120.0, whole=False
    )
    print(f"8 GiB: {perf_counter() - began:.1f} s, oracles {sorted({a.oracle for a in found.accuracy})}")
    assert len(found.accuracy) == 3
    wrong = candidate("y = torch.softmax(x[0], -1); y[-1, -1] = 0.5; return y")
    with pytest.raises(CandidateError) as failed:
        examine(rows, wrong, device, Policy.STOCK, "quick", 120.0, whole=False)
    assert failed.value.faults[0].first == (32767, 65535) and failed.value.faults[0].tail


def test_a_reference_without_memory_is_no_verdict(device: Device) -> None:
    huge = problem("return torch.cat([x[0]] * 400)", "torch.rand(1 << 28)")
    with pytest.raises(MachineError, match="not the candidate"):
        examine(huge, candidate("return x[0]"), device, Policy.STOCK, "quick", 120.0, whole=False)


def test_a_candidate_without_memory_is_one(device: Device) -> None:
    small = problem("return x[0] * 2", "torch.rand(1024)")
    with pytest.raises(CandidateError) as failed:
        examine(
            small,
            candidate("return torch.empty(1 << 40, device='cuda')[:1024]"),
            device,
            Policy.STOCK,
            "quick",
            60.0,
            whole=False,
        )
    assert failed.value.status is Status.OUT_OF_MEMORY
