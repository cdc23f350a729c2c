"""Kernels compiled ahead of time: each once for a target, whoever asks for it, as many at a time as there are cores.

The compiler runs in a few children that stay. They see a kernel's IR and no candidate, so one candidate cannot spoil
what is kept of another's kernels.
"""

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from time import monotonic
from types import TracebackType
from typing import Self
from weakref import WeakValueDictionary

from egg.state.device import Device
from egg.state.evaluation import Status
from egg.tools.assembly.compiled import Compiled
from egg.tools.errors import CandidateError
from egg.tools.launched import Job
from egg.tools.sandbox.client import Bounds, Reply, Worker, open_worker
from egg.tools.sandbox.pool import forget
from egg.tools.store import Store, digest

VERSION = 3
TASK = "egg.tools.tasks.kernel:serve"
BOUNDS = Bounds(seconds=60)
SECONDS = 180.0
"""For one kernel."""
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
ENDINGS = {
    "timeout": (Status.TIMEOUT, "compiling one kernel takes too long: make it smaller, unroll less"),
    "out_of_memory": (Status.OUT_OF_MEMORY, "compiling one kernel takes too much memory: make it smaller"),
}
MOST = 1024
"""Kernels of one forward pass."""
PASS_SECONDS = 600.0
"""For all of them, of wall time: the machine may be busy."""
TOO_MANY = "compiling all kernels of one forward pass takes too long: fewer, smaller kernels"
KILLED = ("crashed", "out_of_memory")
"""Ends that may be somebody else's doing, and so are no verdict the first time."""
CRASHED = (Status.COMPILE_ERROR, "the compiler crashed on a kernel")


class Unfinished(CandidateError):
    """Something did not come to an end; where the candidate is run, it may show better why."""


class Compilers:
    """The children: idle ones, at most as many as were ever needed at once."""

    def __init__(self) -> None:
        self._room = threading.BoundedSemaphore(CORES)
        self._lock = threading.Lock()
        self._idle: list[tuple[int, Worker]] = []
        self._opening = threading.Lock()
        self._readied: int | None = None

    def ready(self) -> None:
        """Open the first one before it is needed; once in a process."""
        with self._opening:
            if self._readied != os.getpid():
                self._readied = os.getpid()
                self._idle.append((os.getpid(), open_worker(TASK, {}, BOUNDS)))

    def compile(self, job: Job, target: str) -> Compiled:
        """Without looking whether it is known.

        Raises:
            Unfinished: the compiler did not end by itself.
            MachineError: no child could be started.
        """
        with self._room:
            reply = self._ask(job, target)
            if reply.state in KILLED:
                self._dismiss()
                reply = self._ask(job, target)
        if reply.ok:
            return Compiled.model_validate(reply.value)
        status, meaning = ENDINGS.get(reply.state, CRASHED)
        raise Unfinished(status, f"{meaning} ({job.name})")

    def _ask(self, job: Job, target: str) -> Reply:
        worker = self._take()
        try:
            reply = worker.ask({"ttir": job.ttir, "options": job.options, "target": target}, SECONDS)
        except BaseException:
            worker.close()
            raise
        if reply.ok:
            with self._lock:
                self._idle.append((os.getpid(), worker))
        else:
            worker.close()
            if worker.lost:
                forget(worker.zygote)
        return reply

    def _take(self) -> Worker:
        with self._opening, self._lock:  # the first one may be on its way
            while self._idle:
                owner, worker = self._idle.pop()
                if owner == os.getpid():
                    return worker
        return open_worker(TASK, {}, BOUNDS)

    def _dismiss(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for owner, worker in idle:
            if owner == os.getpid():
                worker.close()


_compilers = Compilers()
_locks: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
_guard = threading.Lock()


def compiled(job: Job, device: Device, store: Store) -> Compiled:
    """The kernel, compiled now if nobody has yet. Threads that ask for the same one wait for each other.

    Raises:
        Unfinished, MachineError: as `Compilers.compile`.
    """
    key = {
        "ttir": job.ttir,
        "options": job.options,
        "target": device.target,
        "triton": device.software.get("triton"),
        "version": VERSION,
    }
    with _guard:
        lock = _locks.setdefault(digest(key), threading.Lock())
    with lock:
        return store.get("kernel", key, Compiled, lambda: _compilers.compile(job, device.target))


class Batch:
    """Kernels of one candidate, compiled as they come in. What has not begun when it is left is dropped."""

    def __init__(self, device: Device, store: Store) -> None:
        self.device, self.store = device, store
        self.jobs: list[Job] = []
        self._end = monotonic() + PASS_SECONDS
        self._pool = ThreadPoolExecutor(CORES)
        self._futures: list[Future[Compiled]] = []

    def add(self, job: Job) -> None:
        """Take one in.

        Raises:
            Unfinished: there are too many.
        """
        if len(self.jobs) >= MOST:
            raise Unfinished(Status.TIMEOUT, f"{TOO_MANY} (at most {MOST})")
        self.jobs.append(job)
        self._futures.append(self._pool.submit(compiled, job, self.device, self.store))

    def left(self) -> float:
        """Seconds until the pass has to be over.

        Raises:
            Unfinished: there are none.
        """
        seconds = self._end - monotonic()
        if seconds <= 0:
            raise Unfinished(Status.TIMEOUT, TOO_MANY)
        return seconds

    def outcome(self, number: int) -> Compiled:
        """Of the kernel that came in as this one, waited for; raises what `compiled` does, IndexError if none did."""
        try:
            return self._futures[number].result(max(0.0, self._end - monotonic()))
        except TimeoutError as error:
            raise Unfinished(Status.TIMEOUT, TOO_MANY) from error

    def refused(self) -> bool:
        """Whether the compiler refused a kernel in a way that no autotuner forgives. Waits for all."""
        outcomes = [self.outcome(number) for number in range(len(self.jobs))]
        return any(kernel.failed and not kernel.by_ptxas for kernel in outcomes)

    def clear(self) -> None:
        """Forget all that came in."""
        self.jobs.clear()
        self._futures.clear()

    def __enter__(self) -> Self:
        self._pool.submit(_compilers.ready)  # while the candidate's host code gets going; who needs it reports failure
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._pool.shutdown(wait=error is None, cancel_futures=True)
