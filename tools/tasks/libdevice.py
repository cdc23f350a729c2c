"""For the candidate's child: CUDA's mathematical library in the interpreter, which has none."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime.interpreter import TensorHandle

MODULES = ("triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice")
SAME = ("tanh", "erf", "erfc", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos")
MORE = ("tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "floor", "ceil", "trunc", "abs")
REST = ("pow", "atan2", "copysign", "hypot", "fmod", "nextafter", "erfinv", "lgamma", "signbit", "isnan", "isinf")
FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    **{name: getattr(torch, name) for name in (*SAME, *MORE, *REST)},
    "fabs": torch.abs,
    "rint": torch.round,
    "nearbyint": torch.round,
    "exp10": lambda x: torch.pow(10.0, x),
    "cbrt": lambda x: x.sign() * x.abs() ** (1 / 3),
    "remainder": lambda x, y: x - y * torch.round(x / y),
    "fma": lambda x, y, z: (x.double() * y + z).to(x.dtype),
    "normcdf": torch.special.ndtr,
    "saturatef": lambda x: x.clamp(0, 1),
    "div_rn": torch.div,
    "sqrt_rn": torch.sqrt,
    "rcp_rn": torch.reciprocal,
    "add_rn": torch.add,
    "mul_rn": torch.mul,
    "fma_rn": lambda x, y, z: (x.double() * y + z).to(x.dtype),
    "fast_fdividef": torch.div,
    **{f"fast_{name}f": getattr(torch, name) for name in ("exp", "log", "log2", "log10", "sin", "cos", "tan", "pow")},
}
PREDICATES = ("isnan", "isinf", "signbit")


def teach_interpreter() -> None:
    """Replace the functions that only a compiler understands by ones that compute, for all modules loaded later."""
    for path in MODULES:
        module = importlib.import_module(path)
        for name, function in FUNCTIONS.items():
            if hasattr(module, name):
                setattr(module, name, _interpreted(function, name in PREDICATES))


def _interpreted(function: Callable[..., torch.Tensor], predicate: bool) -> Callable[..., Any]:
    def call(*args: Any, _semantic: Any = None, **_: Any) -> Any:
        first = next(arg for arg in args if isinstance(arg, tl.tensor))
        if first.dtype not in (tl.float32, tl.float64):
            raise TypeError(f"libdevice takes float32 or float64, not {first.dtype}")
        values = [torch.as_tensor(np.asarray(_data(arg)), dtype=_dtype(first)) for arg in args]
        result = function(*values)
        scalar = tl.int32 if predicate else first.dtype
        data = (result.to(torch.int32) if predicate else result).numpy()
        shape = list(first.shape)
        return tl.tensor(TensorHandle(data, scalar), tl.block_type(scalar, shape) if shape else scalar)

    return call


def _data(arg: Any) -> Any:
    return arg.handle.data if isinstance(arg, tl.tensor) else getattr(arg, "value", arg)


def _dtype(tensor: Any) -> torch.dtype:
    return torch.float64 if tensor.dtype == tl.float64 else torch.float32
