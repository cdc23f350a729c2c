"""Kernels timed briefly beside each other, for choosing between them: no claim rests on these times.

The processes, blocks, clocks and locks are those of any measurement; there are fewer samples, no reference and no
outputs are looked at. Whatever is chosen here goes through the judge like any other kernel.
"""

from collections.abc import Iterator, Mapping, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from time import monotonic

from egg.tools import shelf
from egg.tools.errors import CandidateError
from egg.tools.exclusive import exclusive
from egg.tools.folders import measuring_folder
from egg.tools.sandbox.client import Worker
from egg.tools.sandbox.removal import scratch
from egg.tools.timing.interleave import Job, Taken, open_sides, secret
from egg.tools.timing.session import Session
from egg.tools.timing.sides import Side

SECONDS = 120.0
"""For setting one kernel up."""


@dataclass(frozen=True)
class Times:
    """What a turn gave: a median for each kernel that ran, a reason for each that did not."""

    median_ms: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


class Stand:
    """Processes that stay from one turn to the next, so that each kernel is set up once."""

    def __init__(self, job: Job, root: Path) -> None:
        self.job, self.root, self.seed = job, root, secret()
        self.workers: dict[str, Worker] = {}
        self.waited = 0.0
        """Seconds, for others to leave the GPU."""
        self._failed: dict[str, str] = {}
        """Why some cannot be set up: none is tried twice."""
        self._holding: ExitStack | None = None
        """Lets the GPU go, while it is held for several turns."""

    @contextmanager
    def together(self, sources: Mapping[str, str]) -> Iterator[None]:
        """Set all of these up, then keep the GPU for several turns in a row; who drops out stays until their end."""
        self._open(sources)
        with ExitStack() as holding:
            holding.enter_context(self._gpu())
            holding.callback(self._let_go)
            self._holding = holding
            yield

    def times(self, sources: Mapping[str, str], rounds: int, share: float) -> Times:
        """Medians of these kernels, side by side; those that are not among them any more are closed."""
        if self._holding is None:
            self._close(self.workers.keys() - sources.keys())
        try:
            return self._times(sources, rounds, share)
        except CandidateError as error:  # forged figures end the whole turn: find out whose they are
            if self._holding:
                self._holding.close()
            self._close(sources.keys() & self.workers.keys())
            if len(sources) == 1:
                return Times(failed=dict.fromkeys(sources, error.feedback))
            alone = [self.times({name: source}, rounds, share) for name, source in sources.items()]
            return Times(
                {name: ms for one in alone for name, ms in one.median_ms.items()},
                {name: why for one in alone for name, why in one.failed.items()},
            )

    def close(self) -> None:
        """End all of them."""
        self._close(set(self.workers))

    def _let_go(self) -> None:
        self._holding = None

    def _close(self, names: Set[str]) -> None:
        leaving = [self.workers.pop(name) for name in names]
        for worker in leaving:
            worker.hang_up()
        for worker in leaving:
            worker.close()

    @contextmanager
    def _gpu(self) -> Iterator[None]:
        """Alone, unless it is held already."""
        if self._holding:
            yield
            return
        began = monotonic()
        with exclusive(self.job.device):
            self.waited += monotonic() - began
            yield

    def _open(self, sources: Mapping[str, str]) -> dict[str, Side]:
        """Those that can be set up, which they are then."""
        sides = {
            name: Side(source=source, optional=True, tunes="autotune" in source, seconds=SECONDS)
            for name, source in sources.items()
            if name not in self._failed
        }
        for name in sides.keys() - self.workers.keys():
            if not (self.root / name).exists():
                (self.root / name).mkdir()
                shelf.take(sources[name], self.root / name)
        taken = Taken({})
        open_sides(self.workers, taken, self.job, sides, self.seed, self.root)
        self.waited += taken.seconds["waiting"]
        self._failed |= taken.left_out
        return {name: side for name, side in sides.items() if name in self.workers}

    def _times(self, sources: Mapping[str, str], rounds: int, share: float) -> Times:
        present = self._open(sources)
        failed = {name: self._failed[name] for name in sources.keys() & self._failed.keys()}
        if not present:
            return Times(failed=failed)
        workers = {name: self.workers[name] for name in present}
        session = Session(present, workers, rounds, 0, self.job.reader, Random(secret()), share)
        with self._gpu():
            for _ in range(rounds):
                session.round()
        session.discard()
        samples = {name: [ms for turn in side.rounds for ms in turn] for name, side in session.taken.items()}
        return Times({name: median(values) for name, values in samples.items() if values}, failed | session.left_out)


@contextmanager
def stand(job: Job) -> Iterator[Stand]:
    """One for the time of a search."""
    with ExitStack() as leaving:
        root = Path(leaving.enter_context(scratch(measuring_folder())))
        opened = Stand(job, root)
        leaving.callback(opened.close)
        yield opened
