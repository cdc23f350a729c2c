"""For the candidate's child: the interpreter without its slowest habit.

Triton patches its whole language at every call of a device function, `tl.sum` among them, 5 ms each time. Once for
each function and launch is enough, since nothing is unpatched before a launch ends.
"""

from typing import Any

from triton.runtime import interpreter


def patch_once_a_launch() -> None:
    """For all kernels interpreted from now on."""
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
