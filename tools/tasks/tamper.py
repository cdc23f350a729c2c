"""For the candidate's child: has it replaced what others measure or compare with?

Nothing here decides a verdict's numbers, which are made in other processes; it names an intent.
"""

import json
import time
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

import torch
import triton
from torch.utils import _pytree
from triton.compiler.compiler import CompiledKernel
from triton.runtime import autotuner, interpreter, jit

from egg.tools.tasks import launches, raw, replay

WATCHED: tuple[Any, ...] = (
    *(torch, torch.Tensor, torch.nn.Module, torch.nn.functional, torch.testing, torch.random, torch.Generator),
    *(torch.cuda, torch.cuda.Event, torch.cuda.Stream, torch.autograd.grad_mode.no_grad, _pytree),
    *(triton, jit.JITFunction, jit.KernelInterface, CompiledKernel, autotuner.Autotuner, autotuner.Heuristics),
    *(interpreter.GridExecutor, interpreter.InterpretedFunction),
    *(launches, launches.Launches, raw, replay, replay.Shadow),
    *(time, json, json.JSONEncoder, Path),
)
"""Modules and classes whose functions the child's own code calls while the candidate is there."""
FUNCTIONS: tuple[type, ...] = (FunctionType, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)
FUNCTIONS += (property, type, classmethod, staticmethod)
BY_COMPILER = {(torch.nn.Module, "__init__"), (torch.nn.Module, "__setstate__")}
"""What PyTorch's compiler replaces."""
LISTED = 8
TORCH = str(Path(torch.__file__).parent)


class Tampering:
    """Remembers what was there before the candidate came. Made after all changes of our own."""

    def __init__(self, *more: Any) -> None:
        watched = (*WATCHED, *more)
        self._before = [
            (owner, name, value)
            for owner in watched
            for name, value in list(vars(owner).items())
            if isinstance(value, FUNCTIONS) and (owner, name) not in BY_COMPILER
        ]
        self._inherited = [(owner, frozenset(dir(owner)) - vars(owner).keys()) for owner in watched]

    def found(self) -> list[str]:
        """Names that are something else now, or hide what they inherited."""
        changed = [
            (owner, name)
            for owner, name, before in self._before
            if (now := vars(owner).get(name)) is not before and not _wrapped_by_pytorch(before, now)
        ]
        hidden = [(owner, name) for owner, names in self._inherited for name in sorted(names & vars(owner).keys())]
        return [f"{getattr(owner, '__name__', owner)}.{name}" for owner, name in changed + hidden][:LISTED]


def _wrapped_by_pytorch(before: Any, now: Any) -> bool:
    """PyTorch wraps a few of its own functions when its compiler is loaded, which much of it does unasked."""
    code = getattr(now, "__code__", None)
    return getattr(now, "__wrapped__", None) is before and code is not None and code.co_filename.startswith(TORCH)
