"""Decoys: what a forward pass gives without its launches, and what PyTorch had already."""

from typing import Any

import pytest

from egg.tools.sandbox.client import run

HEAD = """
import torch
import triton
import triton.language as tl


@triton.jit
def relu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.maximum(tl.load(x_ptr + at, mask=at < n), 0.0), mask=at < n)


@triton.jit
def move(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


def launched(kernel, x, out=None):
    out = torch.empty_like(x) if out is None else out
    kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


class Quiet:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True


class ModelNew(torch.nn.Module):
    def forward(self, x, w):
"""
HONEST = {
    "all in Triton": "return launched(relu, x)",
    "a product by PyTorch, then Triton": "return launched(relu, x @ w)",
    "in place after PyTorch": "y = x @ w\nreturn launched(relu, y, y)",
    "PyTorch adds up what Triton computed": "return launched(relu, x).sum(-1)",
    "a buffer that is filled first": "return launched(relu, x, torch.zeros_like(x))",
    "a buffer that is kept": "if not hasattr(self, 'kept'):\n    self.kept = torch.empty_like(x)\n"
    "return launched(relu, x, self.kept).clone()",
    "several outputs": "return {'a': launched(relu, x), 'b': [launched(relu, -x), x.t()]}",
}
IDLE = {
    "no launch": "return torch.relu(x)",
    "result thrown away": "launched(relu, x)\nreturn torch.relu(x)",
    "times zero": "return torch.relu(x @ w) + 0 * launched(relu, x)",
    "at most": "y = torch.relu(x)\nreturn torch.maximum(y, torch.minimum(launched(relu, x), y))",
    "overwritten": "out = launched(relu, x @ w)\ntorch.matmul(x, w, out=out)\nreturn out.relu_()",
    "the right value over itself": "y = torch.relu(x)\nreturn launched(move, y, y)",
    "on one element": "y = torch.relu(x)\nrelu[(1,)](x, y, 1, BLOCK=64)\nreturn y",
}
ANSWERED = {
    "copied": ("return launched(move, torch.relu(x))", "relu"),
    "copied after a copy": ("return launched(move, torch.relu(x).t().contiguous().t())", "relu"),
    "by an alias": ("return launched(move, torch.ops.aten.mm(x, w))", "mm"),
    "by F.linear": ("return launched(move, torch.nn.functional.linear(x, w))", "mm"),
    "by torch._C": ("return launched(move, torch._C._nn.linear(x, w))", "mm"),
    "by a layer": ("return launched(move, torch.nn.ReLU()(x))", "relu"),
    "by a script": ("f = torch.jit.script(torch.nn.ReLU())\nreturn launched(move, f(x))", "relu"),
    "by a function of its own": (
        "class F(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        return torch.relu(x)\n"
        "return launched(move, F.apply(x))",
        "relu",
    ),
    "spoilt and mended": (
        "y = torch.relu(x)\nz = y.clone()\nz[0] = -1\nrelu[(1,)](x, z, x.shape[1], BLOCK=64)\nreturn z",
        "relu",
    ),
    "times a one": ("one = launched(relu, torch.ones(1))\nreturn torch.relu(x) * one", "relu"),
    "both outputs": ("return launched(move, torch.relu(x)), launched(move, x.sum(0))", "relu, sum"),
}


def replayed(body: str, **more: Any) -> dict[str, Any]:
    source = HEAD + "".join(f"        {line}\n" for line in body.splitlines())
    return run("tests.tools.tasks.replay_child:replayed", {"source": source, **more}, interpret=True).require("replay")


@pytest.mark.parametrize("body", HONEST.values(), ids=HONEST.keys())
def test_honest_launches_are_missed(body: str) -> None:
    assert replayed(body) == {"idle": False, "answered": "", "hides": False}


@pytest.mark.parametrize("body", IDLE.values(), ids=IDLE.keys())
def test_decoys_are_not(body: str) -> None:
    assert replayed(body)["idle"]


@pytest.mark.parametrize(("body", "by"), ANSWERED.values(), ids=ANSWERED.keys())
def test_pytorch_had_the_answer(body: str, by: str) -> None:
    found = replayed(body)
    assert found["answered"] == by and not found["hides"]


def test_who_swallows_a_failing_launch() -> None:
    hidden = "out = torch.empty_like(x)\nwith Quiet():\n    launched(relu, x, out)\nreturn out"
    assert replayed(hidden) == {"idle": False, "answered": "", "hides": True}
    tried = "try:\n    return launched(relu, x)\nexcept RuntimeError:\n    return torch.relu(x)"
    assert replayed(tried)["hides"]


def test_zeros_of_both_signs_are_the_same() -> None:
    assert replayed("return torch.relu(x).neg() + 0 * launched(relu, x)")["idle"]
