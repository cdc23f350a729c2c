"""What a candidate may not replace in its child, and what PyTorch replaces itself."""

import pytest

from egg.tools.sandbox.client import run

REPLACED = {
    "torch.equal = torch.allclose": "torch.equal",
    "torch.Tensor.__eq__ = lambda *a: True": "Tensor.__eq__",
    "torch.cuda.synchronize = lambda *a: None": "torch.cuda.synchronize",
    "torch.cuda.Event.elapsed_time = lambda *a: 1.0": "Event.elapsed_time",
    "torch.nn.functional.linear = None": "torch.nn.functional.linear",
    "torch.nn.Module.__call__ = None": "Module.__call__",
    "torch.testing.assert_close = print": "torch.testing.assert_close",
    "import time\ntime.perf_counter = lambda: 0.0": "time.perf_counter",
    "import json\njson.loads = repr": "json.loads",
    "from triton.compiler.compiler import CompiledKernel\nCompiledKernel.run = None": "CompiledKernel.run",
    "from egg.tools.tasks.launches import Launches\nLaunches._is_own = lambda *a: True": "Launches._is_own",
    "del torch.allclose": "torch.allclose",
}
HARMLESS = (
    "import torch._dynamo, torch.utils.checkpoint, torch.utils.flop_counter",
    "torch.jit.trace(torch.nn.ReLU(), torch.ones(2))",
    "torch.mine = 1\ntorch.nn.Module.mine = lambda self: 2",
    "torch.compile(torch.sin, backend='eager')(torch.ones(2))",
    "from egg.tools.tasks.launches import Launches\nLaunches().close()",
)


def found(code: str) -> list[str]:
    told: list[str] = run("tests.tools.tasks.tamper_child:tampered", {"code": code}).require("tampering")["found"]
    return told


@pytest.mark.parametrize(("code", "name"), REPLACED.items())
def test_replaced(code: str, name: str) -> None:
    assert found(code) == [name]


def test_harmless() -> None:
    assert found("\n".join(HARMLESS)) == []


def test_few_are_named() -> None:
    every = "for name in [n for n, f in vars(torch.nn.functional).items() if callable(f)]:\n"
    assert len(found(every + "    setattr(torch.nn.functional, name, None)")) == 8
