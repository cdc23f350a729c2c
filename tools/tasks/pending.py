"""A kernel that is being compiled elsewhere, and what is written down when it is launched."""

import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

from triton.compiler.compiler import CompiledKernel
from triton.errors import TritonError
from triton.runtime.errors import OutOfResources, PTXASError

from egg.tools.assembly.compiled import Compiled
from egg.tools.facts import THREADS, shortage
from egg.tools.launched import Job, Seen
from egg.tools.tasks.arguments import arguments_of
from egg.tools.tasks.lower import lower, unusual
from egg.tools.tasks.spans import spanned_bytes, tensors_in
from egg.tools.work import Work, count_work

if TYPE_CHECKING:
    from egg.tools.tasks.target import Recorder

SOURCE = "candidate.py"
PLACE = re.compile(r"\bcandidate\.py:(\d+)")


class Compiler(Protocol):
    """Who has kernels compiled."""

    eager: bool
    """Whether each launch is to wait for its kernel, so that it fails where it stands."""

    def submit(self, job: Job) -> int:
        """Number of the job."""

    def wait(self, jobs: Sequence[int]) -> list[Compiled]:
        """What came of them."""


class KernelRefused(TritonError):  # type: ignore[misc]
    """The compiler refuses the kernel."""


class PendingKernel(CompiledKernel):  # type: ignore[misc]
    """Stands in for what `triton.compile` returns. Its parent's constructor, which reads files, is not called."""

    def __init__(self, recorder: "Recorder", source: Any, options: dict[str, Any]) -> None:
        self.module = self.function = self.packed_metadata = None
        self._run: Any = None
        gpu = recorder.get_current_target()
        job = lower(source, gpu, options, str(Path(SOURCE).absolute()))
        self.recorder, self.src, self.ttir = recorder, source, job.ttir
        self.number = recorder.compiler.submit(job)
        self.name, self.hash = job.name, str(self.number)
        self.asm, self.lines = {"ttir": job.ttir}, job.lines
        self.options = job.options
        self.unusual, self.arguments = unusual(job.options, gpu), arguments_of(source)
        self._known: dict[Any, Work] = {}

    def _init_handles(self) -> None:
        """Before a launch. Fails as Triton does if the kernel cannot be launched, where launches wait for that."""
        if self.recorder.compiler.eager:
            self.compiled()
        self._run = self._launch

    def compiled(self) -> Compiled:
        """Wait for the compiler.

        Raises:
            PTXASError, KernelRefused, OutOfResources: there is no such kernel.
        """
        (found,) = self.recorder.compiler.wait([self.number])
        if found.failed:
            said = PLACE.sub(lambda at: f"line {self._line(int(at.group(1)))}: ", found.failed)
            raise (PTXASError if found.by_ptxas else KernelRefused)(said)
        if lacks := shortage(found, self.recorder.device):
            raise OutOfResources(*lacks)
        return found

    def _line(self, place: int) -> int:
        return self.lines[place - 1] if 0 < place <= len(self.lines) else 0

    @property
    def n_regs(self) -> int:
        return self.compiled().registers

    @property
    def n_spills(self) -> int:
        """As Triton has it, in registers."""
        return self.compiled().stack_bytes // 4

    @property
    def n_max_threads(self) -> int:
        return THREADS

    @property
    def metadata(self) -> Any:
        found = self.compiled()
        return SimpleNamespace(**self.options | {"name": self.name, "shared": found.shared_bytes})

    def _launch(self, x: int, y: int, z: int, stream: int, used: Any, *rest: Any) -> None:
        if x * y * z <= 0:  # Triton's launchers do nothing then
            return
        if min(x, y, z) < 0:
            raise RuntimeError("Triton Error [CUDA]: invalid argument")
        values = dict(zip(self.src.fn.arg_names, rest[4:], strict=True))
        grid = (int(x), int(y), int(z))
        work = self._counted({name: int(value) for name, value in values.items() if isinstance(value, int)}, grid)
        seen = Seen(
            job=self.number,
            kernel=self.src.fn.__name__[:200],
            grid=grid,
            stages=int(self.options["num_stages"]),
            bytes=spanned_bytes(tensors_in(values.values())),
            load_bytes=work.load_bytes,
            store_bytes=work.store_bytes,
            dots=dict(work.dots),
            alu=work.alu,
            elementwise=work.elementwise,
            step_bytes=work.step_bytes,
            steps=work.steps,
            guessed=work.guessed,
            loops=tuple(work.loops),
            by_line=dict(work.by_line),
            arguments=self.arguments,
            options=self.unusual,
        )
        self.recorder.launches.append(seen)

    def _counted(self, scalars: dict[str, int], grid: tuple[int, int, int]) -> Work:
        """Once for each set of scalars: a recurrence launches one kernel a thousand times."""
        key = grid, tuple(scalars.items())
        if key not in self._known:
            self._known[key] = count_work(self.ttir, scalars, grid, file=SOURCE)
        return self._known[key]
