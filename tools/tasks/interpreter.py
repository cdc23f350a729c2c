"""Mends what Triton's interpreter gets wrong. Called where `TRITON_INTERPRET` is set, before any kernel runs."""

from typing import Any


def mend() -> None:
    """Both of what follows. May be called twice."""
    _multiply_bfloat16()
    tune_nothing()


def tune_nothing() -> None:
    """Let autotuned kernels run, in their first configuration: Triton asks a GPU's driver for a clock."""
    from triton.runtime.autotuner import Autotuner

    tuner: Any = Autotuner
    tuner.do_bench = property(lambda self: lambda call, quantiles: [0.0] * len(quantiles))


def _multiply_bfloat16() -> None:
    """Let `tl.dot` multiply bfloat16 values: Triton 3.9's interpreter multiplies their 16 bits as integers."""
    import numpy as np
    import triton.language as tl
    from triton.runtime import interpreter

    builder: Any = interpreter.InterpreterBuilder
    if getattr(builder.create_dot, "mended", False):
        return
    plain = builder.create_dot

    def create_dot(self: Any, a: Any, b: Any, d: Any, *options: Any) -> Any:
        if any(side.dtype.scalar == tl.bfloat16 for side in (a, b)):
            a, b = (_widened(side) for side in (a, b))
        return plain(self, a, b, d, *options)

    def _widened(side: Any) -> Any:
        if side.dtype.scalar != tl.bfloat16:
            return side
        bits = np.ascontiguousarray(side.data).astype(np.uint32) << 16
        return interpreter.TensorHandle(bits.view(np.float32), tl.float32)

    create_dot.mended = True  # type: ignore[attr-defined]
    builder.create_dot = create_dot
