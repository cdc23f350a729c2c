"""For the candidate's child: count its Triton launches, and turn them off to see whether they matter."""

from typing import Any

from triton.runtime import interpreter
from triton.runtime.jit import JITFunction


class Launches:
    """Stands between the candidate and Triton, on the GPU and in the interpreter alike."""

    def __init__(self) -> None:
        self.count = 0
        self.off = False
        for owner, name in ((JITFunction, "run"), (interpreter.GridExecutor, "__call__")):
            self._wrap(owner, name)

    def _wrap(self, owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def launch(kernel: Any, *args: Any, **kwargs: Any) -> Any:
            self.count += 1
            return None if self.off else original(kernel, *args, **kwargs)

        setattr(owner, name, launch)
