"""For the candidate's child: sees every Triton launch, and can leave the candidate's own out or let them fail.

A launch is the candidate's own if the text of the kernel stands in the candidate's file; a name proves nothing. What
torch.compile or a library launches through Triton is not.
"""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from triton.compiler.compiler import CompiledKernel
from triton.runtime import interpreter


class Launch(NamedTuple):
    """One kernel started on a grid of blocks."""

    name: str
    """As the GPU's driver knows it."""
    grid: tuple[int, ...]
    own: bool
    function: str


class Launches:
    """Stands between the candidate and Triton, on the GPU and in the interpreter alike."""

    def __init__(self, source: Path | None = None) -> None:
        self.source = str(source or Path("candidate.py").absolute())
        self.count = 0
        self.mode: Literal["on", "off", "fail"] = "on"
        self.seen: list[Launch] | None = None
        """Every launch, where somebody asks for it by making it a list."""
        self.around: Callable[[Launch, Callable[[], Any]], Any] | None = None
        """What is to be done about a launch instead of simply doing it."""
        self._plain = (vars(CompiledKernel)["run"], interpreter.GridExecutor.__call__)
        self._ours = (self._wrap_compiled(), self._wrap_interpreted())
        CompiledKernel.run, interpreter.GridExecutor.__call__ = self._ours

    def close(self) -> None:
        """Stand aside, unless somebody else has put something of theirs in our place."""
        if vars(CompiledKernel)["run"] is self._ours[0]:
            CompiledKernel.run = self._plain[0]
        if interpreter.GridExecutor.__call__ is self._ours[1]:
            interpreter.GridExecutor.__call__ = self._plain[1]

    def _wrap_compiled(self) -> Any:
        # All ways to launch a compiled kernel end here: `kernel[grid]`, an autotuner, what `kernel.warmup` returns.
        plain = self._plain[0]

        def run(kernel: Any) -> Callable[..., Any]:
            start = plain.fget(kernel)
            code = getattr(getattr(kernel.src, "fn", None), "fn", None)

            def launch(x: int, y: int, z: int, *rest: Any) -> Any:
                function = str(getattr(code, "__name__", ""))
                seen = Launch(str(kernel.name), (int(x), int(y), int(z)), self._is_own(code), function)
                return self._launch(seen, lambda: start(x, y, z, *rest))

            return launch

        return property(run)

    def _wrap_interpreted(self) -> Any:
        plain = self._plain[1]

        def call(executor: Any, *args: Any, **kwargs: Any) -> Any:
            if callable(executor.grid):  # before the launch, as on a GPU: what it computes is not the kernel's
                executor.grid = tuple(executor.grid(launch_arguments(executor.fn, args, kwargs)))
            grid = tuple(int(size) for size in executor.grid)
            name = str(getattr(executor.fn, "__name__", ""))
            seen = Launch(name, grid, self._is_own(executor.fn), name)
            return self._launch(seen, lambda: plain(executor, *args, **kwargs))

        return call

    def _launch(self, launch: Launch, start: Callable[[], Any]) -> Any:
        if self.seen is not None:
            self.seen.append(launch)
        if not launch.own:
            return start()
        self.count += 1
        if self.mode == "fail":
            raise RuntimeError(f"launching {launch.name} failed")
        if self.mode == "off":
            return None
        return self.around(launch, start) if self.around else start()

    def _is_own(self, function: Any) -> bool:
        code = getattr(function, "__code__", None)
        return code is not None and code.co_filename == self.source


def launch_arguments(function: Any, args: Any, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a launch by name, defaults too; options of the compiler are none."""
    signature = inspect.signature(function)
    bound = signature.bind_partial(*args, **{k: v for k, v in kwargs.items() if k in signature.parameters})
    bound.apply_defaults()
    return bound.arguments
