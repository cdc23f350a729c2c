"""One session of timing: processes that are set up, asked in turns, and what they answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

from egg.state.conditions import TimedOutputs
from egg.state.evaluation import Status
from egg.tools.errors import CandidateError
from egg.tools.sandbox.client import Worker
from egg.tools.timing.conditions import steady
from egg.tools.timing.nvml import Reader, Reading
from egg.tools.timing.sides import BOUNDS, LeftOut, Side, block, checked, opened, outputs

EAGER, COMPILE, COMPILE_MAX, CANDIDATE = "eager", "compile", "compile_max", "candidate"
SAMPLES = 400  # of each side in a session, unless that takes longer than
SIDE_MS = 1000.0
LEAST = 2  # samples of a block all the same: a slow warm-up buys nobody a short measurement
CALL_MS = 0.5  # what a sample takes beside the call
APART = 2  # samples a block for the second clock and for our own
WARMUP, WARMUP_MS = 3, 5.0
SLOWEST, LEAST_LIMIT_S = 200, 60.0
"""Times eager's own, and seconds: what takes longer is not timed to its end."""
SHORT_MS = 0.05
BESIDE_SAMPLES = 50
OUTPUT_BYTES = 512 << 20  # of kept outputs a session
LEAST_OUTPUTS = 2


@dataclass
class Samples:
    """One side's figures in one session, milliseconds."""

    rounds: list[list[float]] = field(default_factory=list)
    apart: list[tuple[float, float]] = field(default_factory=list)
    """By events and by the host's clock, for the same calls."""
    unexplained: list[float] = field(default_factory=list)
    """What our own clock shows beyond the time that was reported, for the calls of `apart`."""
    trace: dict[str, Any] | None = None
    """Of a candidate's first session: what its process says a forward pass does on the GPU."""
    warm_ms: float | None = None
    graph_ms: float | None = None


class Session:
    """Rounds of blocks. The candidate's calls are counted here, so that each one's inputs are known."""

    def __init__(
        self, sides: Mapping[str, Side], workers: Mapping[str, Worker], rounds: int, outputs: int, reader: Reader,
        random: Random, share: float = 1.0,
    ) -> None:  # fmt: skip
        """`share`: part of the usual samples of a block, where times only order kernels."""
        self.sides, self.workers, self.reader, self.random = dict(sides), workers, reader, random
        self.taken = {name: Samples() for name in sides}
        self.left_out: dict[str, str] = {}
        self.readings: list[list[Reading | None]] = []
        self.kept: list[dict[str, Any]] = []
        self.calls = 0
        self.note = ""
        self.thrown_away = 0
        told = {name: opened(worker.opened.value) for name, worker in workers.items()}
        self.typical = {name: one.typical_ms for name, one in told.items()}
        self.sets = {name: one.sets for name, one in told.items()}
        self.blocks, self.share = 2 * rounds, share
        self.chosen: set[int] = set()
        """Which of the candidate's samples are kept."""
        if CANDIDATE in workers:
            most = max(LEAST_OUTPUTS, OUTPUT_BYTES // max(1, workers[EAGER].opened.value["output_bytes"]))
            timed = range(self.blocks * self._size(CANDIDATE))
            self.chosen = set(random.sample(timed, min(outputs, most, len(timed))))

    def round(self) -> None:
        """Two blocks of each side: in random order, then the same backwards, so that a steady drift cancels."""
        names = list(self.sides)
        self.random.shuffle(names)
        for mine in self.taken.values():
            mine.rounds.append([])
        self.readings.append([])
        for name in mirrored(names):
            if name in self.sides:
                self._asked(name, lambda name=name: self._block(name))

    def _block(self, name: str) -> None:
        mine, short = self.taken[name], self.typical[name] < WARMUP_MS
        before = self.reader.read()
        self._add(name, warmup=WARMUP if short else 1)
        for _ in range(APART):
            # Ours is for these calls alone: their events include what the host needs to launch them, which the flush
            # covers in the others, and which may honestly be more than eager needs.
            began = perf_counter()
            self._add(name, apart=1)
            mine.unexplained.append((perf_counter() - began) * 1e3 - mine.apart[-1][0])
        for _ in range(self._size(name)):
            # One at a time: its process knows neither which call is the last nor whose output will be asked for.
            self._add(name, samples=1)
            if name == CANDIDATE and sum(map(len, mine.rounds)) - 1 in self.chosen:
                answer = self._ask(name, {"do": "keep", "name": f"timed-{len(self.kept)}"})
                self.kept.append({"turn": self.calls, "outputs": outputs(answer)})
        self.readings[-1].append(_latest(before, self.reader.read()))

    def _add(self, name: str, warmup: int = 0, apart: int = 0, samples: int = 0) -> None:
        """Have calls made, and take in their times."""
        asked = {"do": "block", "warmup": warmup, "apart": apart, "samples": samples}
        answer = self._ask(name, asked, seconds=self._limit(warmup + apart + samples))
        times = block(answer, samples, apart)
        self.taken[name].rounds[-1] += times.events
        self.taken[name].apart += times.apart
        if name == CANDIDATE:
            self.calls += warmup + apart + samples

    def _limit(self, calls: int) -> float:
        """Seconds for so many calls: nobody may hold the GPU for long, however slow it says that it is."""
        return max(LEAST_LIMIT_S, SLOWEST * calls * self.typical.get(EAGER, 0.0) / 1e3)

    def _size(self, name: str) -> int:
        """Samples of a block."""
        usual = SIDE_MS / self.blocks / (self.typical[name] + CALL_MS)
        return int(max(LEAST, self.share * min(SAMPLES / self.blocks, usual)))

    def beside(self, wanted: bool) -> None:
        """What is reported beside the figures, last, since a graph that cannot be captured may spoil a process."""
        self._look_for_tampering()
        for name in list(self.sides):
            if wanted and self.typical[name] < SHORT_MS:
                self._asked(name, lambda name=name: self.report(name, "warm_ms"))
            if self.sides[name].traced:
                self.taken[name].trace = self._ask(name, {"do": "trace"}).get("trace")
                self._look_for_tampering()
            if wanted and name != EAGER:
                self._asked(name, lambda name=name: self.report(name, "graph_ms"))

    def _look_for_tampering(self) -> None:
        if CANDIDATE in self.sides and (names := self._ask(CANDIDATE, {"do": "tampered"}).get("names")):
            said = ", ".join(str(name)[:80] for name in names) if isinstance(names, list) else "something"
            raise CandidateError(Status.CHEAT, f"while it is timed the candidate replaces {said}")

    def report(self, name: str, what: str) -> None:
        """Take a figure that is told beside the times; none if it cannot be had."""
        reply = self.workers[name].ask({"do": what, "samples": BESIDE_SAMPLES}, BOUNDS.seconds)
        value = reply.value.get("ms") if reply.ok else None
        setattr(self.taken[name], what, float(value) if isinstance(value, float) and value > 0 else None)

    def discard(self) -> None:
        """Throw away the rounds in which the GPU's clock was held back."""
        good, self.note = steady(self.readings)
        for mine in self.taken.values():
            self.thrown_away += sum(len(turn) for turn, keep in zip(mine.rounds, good, strict=True) if not keep)
            mine.rounds = [turn for turn, keep in zip(mine.rounds, good, strict=True) if keep]

    def check_outputs(self, seed: int, folder: Path) -> TimedOutputs:
        """Have the reference's process compare the outputs kept in `folder` with its own for the same inputs.

        Raises:
            CandidateError: one is wrong.
        """
        asked = {"do": "compare", "seed": seed, "sets": self.sets[CANDIDATE], "calls": self.kept, "folder": str(folder)}
        answer = self._ask(EAGER, asked)
        if answer["wrong"]:
            said = f"a timed call gave a wrong output: {answer['wrong']}"
            if answer["gross"]:
                raise CandidateError(Status.CHEAT, f"{said}; what was timed is not what was checked before")
            raise CandidateError(Status.MISMATCH, said)
        timed = sum(len(turn) for turn in self.taken[CANDIDATE].rounds)
        return TimedOutputs(checked=answer["checked"], of=timed, telling=answer["telling"], note=answer["note"])

    def _ask(self, name: str, message: dict[str, Any], seconds: float = BOUNDS.seconds) -> dict[str, Any]:
        return checked(self.workers[name].ask(message, seconds), name, self.sides[name])

    def _asked(self, name: str, what: Any) -> None:
        try:
            what()
        except LeftOut as reason:
            self.left_out[name] = str(reason)
            del self.sides[name], self.taken[name]


def mirrored(names: list[str]) -> list[str]:
    """A B B A."""
    return names + names[::-1]


def _latest(before: Reading | None, after: Reading | None) -> Reading | None:
    """A block's reading is the one at its end, when the GPU had work until a moment ago, with both's reasons."""
    if before is None or after is None:
        return after
    reasons = tuple(sorted({*before.reasons, *after.reasons}))
    return Reading(after.sm_mhz, after.memory_mhz, after.temperature_c, after.power_w, reasons)
