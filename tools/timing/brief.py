"""Kernels timed briefly beside each other, for choosing between them: no claim rests on these times.

The processes, blocks, clocks and locks are those of any measurement; there are fewer samples, no reference and no
outputs are looked at. Whatever is chosen here goes through the judge like any other kernel.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median

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

    def times(self, sources: Mapping[str, str], rounds: int, share: float) -> Times:
        """Medians of these kernels, side by side; those that are not among them any more are closed."""
        for name in self.workers.keys() - sources.keys():
            self.workers.pop(name).close()
        try:
            return self._times(sources, rounds, share)
        except CandidateError as error:  # forged figures end the whole turn: find out whose they are
            for name in sources:
                if (worker := self.workers.pop(name, None)) is not None:
                    worker.close()
            if len(sources) == 1:
                return Times(failed=dict.fromkeys(sources, error.feedback))
            alone = [self.times({name: source}, rounds, share) for name, source in sources.items()]
            return Times(
                {name: ms for one in alone for name, ms in one.median_ms.items()},
                {name: why for one in alone for name, why in one.failed.items()},
            )

    def close(self) -> None:
        """End all of them."""
        for worker in self.workers.values():
            worker.close()
        self.workers.clear()

    def _times(self, sources: Mapping[str, str], rounds: int, share: float) -> Times:
        sides = {
            name: Side(source=source, optional=True, tunes="autotune" in source, seconds=SECONDS)
            for name, source in sources.items()
        }
        for name in sides.keys() - self.workers.keys():
            if not (self.root / name).exists():
                (self.root / name).mkdir()
                shelf.take(sources[name], self.root / name)
        taken = Taken({})
        open_sides(self.workers, taken, self.job, sides, self.seed, self.root)
        present = {name: side for name, side in sides.items() if name in self.workers}
        if not present:
            return Times(failed=taken.left_out)
        workers = {name: self.workers[name] for name in present}
        session = Session(present, workers, rounds, 0, self.job.reader, Random(secret()), share)
        with exclusive(self.job.device):
            for _ in range(rounds):
                session.round()
        session.discard()
        samples = {name: [ms for turn in side.rounds for ms in turn] for name, side in session.taken.items()}
        return Times(
            {name: median(values) for name, values in samples.items() if values}, taken.left_out | session.left_out
        )


@contextmanager
def stand(job: Job) -> Iterator[Stand]:
    """One for the time of a search."""
    with ExitStack() as leaving:
        root = Path(leaving.enter_context(scratch(measuring_folder())))
        opened = Stand(job, root)
        leaving.callback(opened.close)
        yield opened
