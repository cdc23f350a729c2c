"""For child tasks: what a forward pass does, noted so that two passes in different places can be compared.

A kernel is noted by its name, its line, its code, the plain values it reads and its constexpr arguments; PyTorch by the
functions that were called and computed. Operators below them differ from device to device.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from types import CodeType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from egg.tools.operators import computes
from egg.tools.tasks.launches import launch_arguments

MOST, LONGEST = 256, 300
NOT_ON_A_GPU = frozenset(("numpy", "__array__", "__dlpack__"))
READS = frozenset(("item", "tolist", "__float__", "__int__", "__bool__", "__index__", "untyped_storage", "storage"))
"""Ways by which values leave PyTorch, to be computed with elsewhere."""
PLAIN = (bool, int, float, str, type(None))


class Noted:
    """What the pass that is under way has done so far."""

    def __init__(self) -> None:
        self.done: dict[str, None] = {}
        self.computed = 0
        self.inside = 0
        self.silent = False

    @contextmanager
    def forward(self) -> Iterator[None]:
        """A forward pass: its notes replace those of the last one."""
        self.done, self.computed = {}, 0
        with Functions(self), Operators(self):
            yield

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is not the candidate's doing, a kernel being interpreted above all."""
        before, self.silent = self.silent, True
        try:
            yield
        finally:
            self.silent = before

    def note(self, said: str) -> None:
        """One thing that was done; the order does not matter."""
        if not self.silent and len(self.done) < MOST:
            self.done[_short(said)] = None

    def launches(self, kernel: Any, args: Any, kwargs: Mapping[str, Any]) -> None:
        """A launch of a `JITFunction` or an `InterpretedFunction`."""
        if not self.silent:
            values = ", ".join(_constexprs(kernel.fn, args, kwargs))
            self.note(f"kernel {_identity(kernel.fn)}{f', {values}' if values else ''}")


class Functions(TorchFunctionMode):
    """Sees the functions of PyTorch that the candidate calls, and keeps from it what a tensor on a GPU has not."""

    def __init__(self, noted: Noted) -> None:
        super().__init__()
        self.noted = noted

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        noted, name = self.noted, str(getattr(func, "__name__", func))
        if noted.silent:
            return func(*args, **(kwargs or {}))
        if name in NOT_ON_A_GPU:
            raise TypeError(
                f"can't convert cuda:0 device type tensor to numpy ({name}): the forward pass computes on the GPU"
            )
        if name in READS:
            noted.note(f"{name} of a tensor")
        before, noted.inside = noted.computed, noted.inside + 1
        try:
            out = func(*args, **(kwargs or {}))
        finally:
            noted.inside -= 1
        if noted.computed > before:
            shapes = [list(leaf.shape) for leaf in tree_leaves(out) if isinstance(leaf, torch.Tensor)]
            noted.note(f"PyTorch's {name} of {shapes}")
        return out


class Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees whether anything was computed."""

    def __init__(self, noted: Noted) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.noted = noted

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else PyTorch loads its compiler first, for seconds, only to leave this alone

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        name = func._schema.name.split("::")[-1]
        view = any(r.alias_info and not r.alias_info.is_write for r in func._schema.returns)
        if not self.noted.silent and not view and computes(name):
            self.noted.computed += 1
            if not self.noted.inside:
                self.noted.note(f"PyTorch's operator {name}")
        return out


def watch_launches(noted: Noted, kernels: Any, instead: Callable[..., Any] | None = None) -> None:
    """Note launches of all kernels of a class; `instead` is what comes of one, if it is not to be launched."""
    plain = kernels.run

    def run(kernel: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        if not warmup:
            noted.launches(kernel, args, kwargs)
        if instead is not None:
            return None if warmup else instead(kernel, args, kwargs, grid)
        return plain(kernel, *args, grid=grid, warmup=warmup, **kwargs)

    kernels.run = run


def _constexprs(function: Any, args: Any, kwargs: Mapping[str, Any]) -> Iterator[str]:
    parameters = inspect.signature(function).parameters
    for name, value in launch_arguments(function, args, kwargs).items():
        annotation = parameters[name].annotation
        if str(getattr(annotation, "__name__", annotation)).endswith("constexpr"):
            yield f"{name}={_value(value)}"


def _short(said: str) -> str:
    """Cut, so that two which differ further on still differ."""
    if len(said) <= LONGEST:
        return said
    return f"{said[:LONGEST]}... ({sha256(said.encode(errors='replace')).hexdigest()[:8]})"


def _value(value: Any) -> str:
    value = getattr(value, "value", value) if type(value).__name__ == "constexpr" else value
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_value, value))})"
    if isinstance(value, PLAIN):
        return repr(value)
    if hasattr(value, "fn"):
        return _identity(value.fn)
    return type(value).__name__


def _identity(function: Any, seen: frozenset[Any] = frozenset()) -> str:
    """Name and line for a reader, and a digest of the code, of what it reads and of what it calls."""
    while not hasattr(function, "__code__") and hasattr(function, "fn"):
        function = function.fn
    code = getattr(function, "__code__", None)
    name = str(getattr(function, "__name__", "?"))[:200]
    if code is None or function in seen:
        return name
    around = {**function.__globals__, **_closed_over(function)}
    parts = [repr((code.co_code.hex(), [c for c in code.co_consts if isinstance(c, PLAIN)]))]
    for read in sorted(_names(code)):
        value = around.get(read)
        if read.startswith("__") or read not in around:
            continue
        if isinstance(value, PLAIN) or type(value).__name__ == "constexpr":
            parts.append(f"{read}={_value(value)}")
        elif type(value).__name__ in ("JITFunction", "InterpretedFunction"):
            parts.append(f"{read}={_identity(value, seen | {function})}")
    return f"{name} (line {code.co_firstlineno}, {sha256(repr(parts).encode(errors='replace')).hexdigest()[:8]})"


def _closed_over(function: Any) -> dict[str, Any]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    return {name: cell.cell_contents for name, cell in cells if cell != type(cell)()}


def _names(code: CodeType) -> set[str]:
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return {*code.co_names, *code.co_freevars}.union(*(_names(part) for part in inner))
