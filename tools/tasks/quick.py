"""For the candidate's child: the interpreter without its slowest habits."""

from dataclasses import replace
from functools import cache
from typing import Any

import triton.language as tl
from triton.runtime import interpreter


def make_quick() -> None:
    """For all kernels interpreted from now on."""
    _patch_once_a_launch()
    _look_types_up_once()
    # A compiled kernel does not look for overflow either; here it costs ten operations for each one.
    builder: Any = interpreter.interpreter_builder
    builder.options = replace(builder.options, sanitize_overflow=False)


def _patch_once_a_launch() -> None:
    """Triton patches its whole language at every call of a device function, `tl.sum` among them, 5 ms each time.

    Once for each function and launch is enough, since nothing is unpatched before a launch ends.
    """
    patch, launch = interpreter._patch_lang, interpreter.GridExecutor.__call__
    patched: set[Any] = set()

    def patch_if_new(function: Any) -> Any:
        if function in patched:
            return None
        patched.add(function)
        return patch(function)

    def launch_afresh(executor: Any, *args: Any, **kwargs: Any) -> Any:
        patched.clear()
        return launch(executor, *args, **kwargs)

    interpreter._patch_lang = patch_if_new
    interpreter.GridExecutor.__call__ = launch_afresh


def _look_types_up_once() -> None:
    """Triton makes a table of all types to find NumPy's name of one, several times for each operation."""
    plain = interpreter._get_np_dtype
    known = cache(plain)

    def np_dtype(type_: Any) -> Any:
        scalar = type_.element_ty if isinstance(type_, tl.block_type) else type_
        return plain(type_) if isinstance(scalar, tl.pointer_type) else known(scalar)

    interpreter._get_np_dtype = np_dtype
