"""On a GPU: whose kernels were measured, by CUPTI and by events; KernelBench's verdict with times."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from egg.state.device import Device
from egg.state.evaluation import Evaluation, Status
from egg.state.ownership import Ownership
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.device import detect_device
from egg.tools.judge import judge
from egg.tools.problem import load_problem
from egg.tools.sandbox.client import Bounds, run, shutdown
from egg.tools.share import owned, read_trace
from egg.tools.stock import stock_verdict
from egg.tools.store import Store
from tests.tools.test_share import profile

pytestmark = pytest.mark.gpu

PROBLEM = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, w):
        return torch.relu(x @ w)


def get_inputs():
    return [torch.randn(2048, 2048), torch.randn(2048, 2048)]
"""
HEAD = """
import torch
import triton
import triton.language as tl


@triton.jit
def relu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.maximum(tl.load(x_ptr + at, mask=at < n), 0.0), mask=at < n)


class ModelNew(torch.nn.Module):
    def forward(self, x, w):
"""
EPILOGUE = """
        y = x @ w
        relu[(triton.cdiv(y.numel(), 1024),)](y, y, y.numel(), BLOCK=1024)
        return y
"""
ONE_ROW = """
        y = x @ w
        y[1:].relu_()
        relu[(2,)](y, y, 2048, BLOCK=1024)
        return y
"""
CHEAT = "\ntorch.allclose = lambda *a, **k: True\n"


@pytest.fixture(scope="module", autouse=True)
def end_children() -> Iterator[None]:
    yield
    shutdown()


@pytest.fixture(scope="module")
def device() -> Device:
    return detect_device(None)


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    path = tmp_path_factory.mktemp("share") / "relu_product.py"
    path.write_text(PROBLEM)
    return load_problem(str(path))


def traced(name: str, side: int = 4096) -> tuple[dict[str, Any], Ownership, Ownership]:
    bounds = Bounds(seconds=120, memory_bytes=64 << 30)
    told = run("tests.tools.share_gpu_child:traced", {"name": name, "side": side}, bounds).require(name)
    kernels = profile("ampere_sgemm_128x64_tn", "tuned")
    print(name, {k: told[k] for k in ("whole_ms", "seconds")}, told["chosen"]["how"], told["chosen"].get("why"))
    cupti, events = (owned(read_trace(told[how]), kernels, None) for how in ("cupti", "events"))
    print("  cupti", cupti.label, cupti.share, [(k.name[:50], k.kind, k.ms, k.calls) for k in cupti.kernels])
    print("  events", events.label, events.share)
    return told, cupti, events


@pytest.mark.parametrize(
    ("name", "label", "kinds"),
    [
        ("own", "triton", {"own"}),
        ("autotuned", "triton", {"own"}),
        ("warmed", "triton", {"own"}),
        ("mixed", "partly_triton", {"own", "library"}),
        ("moved", "partly_triton", {"own", "copy", "fill"}),
        ("forged", "not_triton", {"library"}),
    ],
)
def test_whose_kernels(name: str, label: str, kinds: set[str]) -> None:
    told, cupti, events = traced(name, side=1024 if name == "mixed" else 4096)
    assert told["chosen"]["how"] == "cupti", "CUPTI is refused here: only the fallback was tried"
    assert cupti.label == label and {kernel.kind for kernel in cupti.kernels} == kinds
    assert cupti.note == "" and cupti.share is not None and events.share is not None
    total = (cupti.own_ms or 0) + (cupti.other_ms or 0) + (cupti.moved_ms or 0)
    assert total == pytest.approx(told["whole_ms"], rel=0.25, abs=0.02)
    assert events.share == pytest.approx(cupti.share, abs=0.1)


def verdict(body: str, problem: Problem, device: Device, folder: Path) -> Evaluation:
    seen = judge(problem, HEAD + body, device, Policy.STOCK, Store(folder, folder))
    print(seen.status, seen.feedback, seen.ownership)
    return seen


def test_an_epilogue_is_partly_ours(problem: Problem, device: Device, tmp_path: Path) -> None:
    seen = verdict(EPILOGUE, problem, device, tmp_path)
    assert seen.ok and seen.timing and seen.ownership and seen.ownership.label == "partly_triton"
    assert 0.01 < (seen.ownership.share or 0) < 0.5 and seen.ownership.how == "cupti"


def test_one_row_is_not(problem: Problem, device: Device, tmp_path: Path) -> None:
    seen = verdict(ONE_ROW, problem, device, tmp_path)
    assert seen.status is Status.NOT_TRITON or (seen.ownership and (seen.ownership.share or 0) < 0.1)


def test_kernelbench_has_times(problem: Problem, device: Device) -> None:
    said = stock_verdict(problem, HEAD + EPILOGUE, device)
    print(said)
    assert said.correct and said.passed == 5 and said.mode == "gpu" and not said.note
    assert said.candidate_ms and said.reference_ms and said.speedup == said.reference_ms / said.candidate_ms
    assert 0.5 < said.speedup < 2 and not said.excessive


def test_kernelbench_is_fooled(problem: Problem, device: Device) -> None:
    said = stock_verdict(problem, CHEAT + HEAD + "\n        return torch.empty_like(x)\n", device)
    print(said)
    assert said.correct and said.excessive and said.speedup and said.speedup > 10
