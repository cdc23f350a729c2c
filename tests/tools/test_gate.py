"""What a source may not say, and that honest code may say the rest."""

from pathlib import Path

import pytest

from egg.state.evaluation import Status
from egg.tools.gate import refusal

HEAD = """from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache, partial

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import Tensor

"""
MODEL = """

class ModelNew(nn.Module):
    def forward(self, x):
        return x
"""
REFUSED = {
    "import os": "imports os",
    "from subprocess import run": "imports subprocess",
    "from . import other": "imports .",
    "from torch import compile": "torch.compile",
    "from torch.utils import cpp_extension": "cpp_extension",
    "from torch import *": "name what is used",
    "x = eval('1')": "uses eval",
    "run = exec": "uses exec",
    "__builtins__['open']": "__builtins__",
    "forge = torch.compile": "torch.compile",
    "t = torch\nforge = t.compile(F.relu)": "torch.compile",
    "getattr(torch, 'compile')": "torch.compile",
    "getattr(torch, 'comp' + 'ile')": "spell it out",
    "torch.jit.script(F.relu)": "torch.jit.script",
    "torch._C._nn.gelu": "torch._C",
    "torch.sys.modules": "torch.sys",
    "math.sys": "uses math.sys",
    "import torch._dynamo": "torch._dynamo",
    "torch.ops.load_library('x.so')": "load_library",
    "torch.cuda.jiterator._create_jit_fn('')": "jiterator",
    "s = torch.cuda.Stream()": "current stream",
    "with torch.cuda.stream(None):\n    x = 1": "current stream",
    "torch.load('x')": "files",
    "torch.set_float32_matmul_precision('high')": "precision",
    "triton.runtime.jit.JITFunction": "inside",
    "(lambda: 0).__globals__": "__globals__",
    "getattr(F.relu, '__globals__')": "__globals__",
    "().__class__.__base__.__subclasses__()": "reaches for",
    "def f():\n    yield\nf().gi_frame.f_back": "reaches for",
    "class A(nn.Module):\n    def f(self):\n        self.__class__ = nn.Linear": "changes __class__",
    "@triton.jit\ndef k(): return\ntype(k).run = None": "changes run",
    "with contextlib.suppress(Exception):\n    x = 1": "suppress",
    "def get(m): return m.sys\nq = get(torch).modules": "a module through sys",
    "[q] = [m.builtins for m in (torch,)]": "a module through builtins",
    "match kernel:\n    case object(__globals__=g): pass": "__globals__",
    "match torch:\n    case object(sys=s): pass": "reaches for sys",
    "import operator\noperator.attrgetter('__glo' + 'bals__')(triton.cdiv)": "by text",
    "n = '__glo' + 'bals__'\ngetattr(triton.cdiv, n)": "spell it out",
    "n = '__glo' + 'bals__'\ngetattr(helper, n)": "computed name in helper",
    "'{0.__globals__}'.format(triton.cdiv)": "by text",
    "import typing\ntyping.get_type_hints(nn.Linear)": "by text",
    "class A:\n    a: '__import__(1)'": "uses __import__",
    "def f(x: 'torch.load(1)'): pass": "files",
    "import functools\nfunctools.singledispatch(F.relu)": "by text",
    "from torch.utils.benchmark import Timer": "inside",
    "from torch.nn.functional import *": "name what is used",
    "from triton.testing import do_bench": "inside",
    "nn.modules.module.register_module_forward_hook(print)": "forward pass",
    "class A(nn.Module):\n    def f(self):\n        self.register_forward_hook(print)": "forward pass",
    "class Hush:\n    def __exit__(self, *_):\n        return True": "__exit__ returns hides",
    "def hush():\n    try:\n        yield\n    except Exception:\n        x = 1": "try hides",
    "def f(x):\n    try:\n        return helper(x)\n    finally:\n        return x": "try hides",
    "try:\n    y = helper()\nexcept Exception:\n    y = None": "try hides",
    "try:\n    kernel[(1,)](x)\nexcept RuntimeError as error:\n    y = F.relu(x)": "try hides",
    "try:\n    y = helper()\nexcept* ValueError:\n    y = None": "try hides",
}
CHEATS = {
    "torch.allclose = print": "changes torch.allclose",
    "torch.cuda.Event.elapsed_time = print": "changes torch.cuda.Event.elapsed_time",
    "from torch.cuda import Event\nEvent.record = print": "changes torch.cuda.Event.record",
    "Event = torch.cuda.Event\nEvent.record = print": "changes torch.cuda.Event.record",
    "torch.backends.cuda.matmul.allow_tf32 = True": "allow_tf32",
    "del torch.equal": "changes torch.equal",
    "for torch.equal in (print,):\n    x = 1": "changes torch.equal",
    "(torch.equal, x) = print, 1": "changes torch.equal",
    "torch.backends.cudnn.enabled |= True": "cudnn.enabled",
    "setattr(torch.cuda, 'synchronize', print)": "changes torch.cuda",
    "object.__setattr__(torch, 'equal', print)": "changes torch",
    "class Late(torch.Tensor):\n    x = 1": "of its own kind",
    "class Late(Tensor):\n    x = 1": "of its own kind",
    "T = Tensor\nclass Late(T):\n    x = 1": "of its own kind",
}
HONEST_TEXT = """
class Empty: pass
# ---
NEG = -math.inf
# ---
y = torch.empty(3, device='cpu')
# ---
@dataclass(frozen=True)
class Shape:
    rows: int = 1
    more: list[int] = field(default_factory=list)
# ---
__all__ = ['ModelNew']
# ---
print(f'{math.pi:.3f}')
# ---
@triton.autotune(configs=[triton.Config({'B': 64})], key=['n'])
@triton.jit
def k(x, n, B: tl.constexpr): return
# ---
@triton.heuristics({'EVEN': lambda args: args['n'] % 2 == 0})
@triton.jit
def k(x, n, EVEN: tl.constexpr): return
# ---
class Op:
    def __call__(self, x):
        return x.t().contiguous()
    def __repr__(self):
        return self.__class__.__name__
# ---
class B(nn.Module):
    def __init__(self):
        super().__init__()
        self.__scale = 2.0
        self.weight = nn.Parameter(torch.ones(2))
# ---
def forward(input, compile=False, open=1):
    return input if compile else open
# ---
try:
    from triton.language.extra.cuda import libdevice
except ImportError:
    libdevice = None
# ---
try:
    COUNT = torch.cuda.get_device_properties(0).multi_processor_count
except RuntimeError:
    COUNT = 132
# ---
def f(x):
    try:
        return helper(x)
    finally:
        x = None
# ---
def f(x):
    try:
        return helper(x)
    except ValueError as error:
        raise RuntimeError('no') from error
# ---
def f(self, i):
    return getattr(self, f'weight_{i}') + getattr(self.layers, f'bias_{i}')
# ---
setattr(ModelNew, 'name', 'x') if False else None
# ---
@lru_cache
def f(n):
    return 1 << (n - 1).bit_length()
# ---
x = torch.float32
def f(x):
    x.scale = 1
# ---
act = F.gelu
y = act(torch.ones(1))
# ---
if tuple(int(p) for p in torch.__version__.split('.')[:1]) < (3,):
    OLD = True
# ---
with nullcontext():
    y = 1
# ---
def f():
    '''A set {i[_j]} of things, see {x.__class__}.'''
# ---
hann = torch.signal.windows.hann(8)
# ---
triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device='cuda'))
# ---
from triton.tools.tensor_descriptor import TensorDescriptor
# ---
M = triton.runtime.driver.active.utils.get_device_properties(0)['max_shared_mem']
# ---
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x
# ---
ModelNew.cache = None
class C(nn.Module):
    def f(self):
        type(self).seen = 1
"""
HONEST = HONEST_TEXT.split("# ---\n")


@pytest.mark.parametrize(("code", "why"), REFUSED.items())
def test_refused(code: str, why: str) -> None:
    found = refusal("import contextlib\n" + HEAD.split("\n", 1)[1] + code + MODEL)
    assert found is not None and found.status is Status.REJECTED and why in found.feedback, found
    assert found.line and found.feedback.startswith(f"line {found.line}: ")


@pytest.mark.parametrize(("code", "why"), CHEATS.items())
def test_cheats(code: str, why: str) -> None:
    found = refusal(HEAD + code + MODEL)
    assert found is not None and found.status is Status.CHEAT and why in found.feedback, found


@pytest.mark.parametrize("code", HONEST)
def test_honest_code_passes(code: str) -> None:
    assert refusal(HEAD + code + MODEL) is None


def test_the_line_is_the_fault_s() -> None:
    found = refusal(HEAD + "\n\nx = 1\ntorch.equal = x" + MODEL)
    assert found is not None and found.line == HEAD.count("\n") + 4


def test_only_utf8_is_read() -> None:
    refused = refusal("#!/usr/bin/env python\n# vim: set fileencoding=unicode_escape :\n" + HEAD + MODEL)
    assert refused is not None and refused.line == 2 and "write UTF-8" in refused.feedback
    assert refusal("# -*- coding: utf-8 -*-\n" + HEAD + MODEL) is None


def test_a_model_is_needed() -> None:
    assert refusal(HEAD + "x = 1") is not None
    assert refusal(HEAD + MODEL.replace("ModelNew", "Other") + "\nModelNew = Other\n") is None


def test_sources_that_are_none() -> None:
    broken = refusal("def f(:\n")
    assert broken is not None and broken.status is Status.COMPILE_ERROR and broken.line == 1
    assert refusal("x = '\0'") is not None
    assert refusal("#" * (300 << 10)) is not None
    assert refusal(HEAD + "y = " + "(" * 5000 + ")" * 5000) is not None
    deep = refusal(HEAD + "y = x" + ".a" * 3000 + MODEL)
    assert deep is None or deep.status is Status.COMPILE_ERROR


def test_the_expert_library_and_our_problems_pass() -> None:
    for file in Path(__file__).parents[2].glob("evals/problems/*.py"):
        assert refusal(file.read_text().replace("class Model(", "class ModelNew(")) is None, file


def test_a_byte_order_mark_is_no_syntax_error() -> None:
    assert refusal("\ufeffclass ModelNew:\n    pass\n") is None


def test_what_is_said_of_half_a_character_can_be_written() -> None:
    refused = refusal("class ModelNew:\n    pass\n\ngetattr(ModelNew, '__\\ud800__')\n")
    assert refused and refused.feedback.encode()
