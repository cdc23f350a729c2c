"""A candidate in one child and a referee in another, and the calls that the one makes and the other judges.

Seeds are drawn here and told call by call. The candidate's child never sees an expected output; the referee reads what
it left in a folder, and decides.
"""

import os
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, Self

from egg.state.device import Device
from egg.state.errors import MachineError
from egg.state.settings import Policy
from egg.state.status import Status
from egg.tools import shelf
from egg.tools.correctness.answers import well_formed
from egg.tools.correctness.failure import candidate_failure, failure, faults_of, in_words
from egg.tools.correctness.step import CHANGED, NAN_BYTE, Step, secret
from egg.tools.errors import CandidateError
from egg.tools.exclusive import shared as beside_other_checks
from egg.tools.folders import scratch_parent
from egg.tools.sandbox.client import Bounds, Reply, Worker, open_worker
from egg.tools.sandbox.removal import scratch
from egg.tools.sandbox.worker import PATIENCE

CPU_BYTES = 2 << 30
GPU_BYTES = 96 << 30
REFEREE_S = 600.0
SLOWEST_WRITE = 2e8
"""Bytes per second."""
MANY = 16
"""Times the parts of the reference's output from which on a candidate's are not even looked at."""
BIG_BYTES = 4 << 30
"""Inputs and outputs from which on every byte that is held or written is counted."""

LOST: dict[str, tuple[Status, str]] = {
    "out_of_memory": (Status.OUT_OF_MEMORY, "it keeps so much memory that the reference does not fit beside it"),
    "crashed": (Status.CHEAT, "the process that judges died while the candidate ran; without it, it does not"),
}
"""The verdict, if what the referee failed at succeeds once the candidate is gone."""

Json = dict[str, Any]


class WarmLost(MachineError):
    """The process that starts children died, by this candidate or by another's: nothing can be said of this one."""


class Lost(Exception):
    """The referee failed at a message, or, without one, at its set-up."""

    def __init__(self, reply: Reply, message: Json | None) -> None:
        super().__init__(reply.error)
        self.reply, self.message = reply, message


class Trial:
    """Both children. Every method that calls the candidate raises `CandidateError` for what it does wrong."""

    def __init__(
        self, problem: str, source: str, device: Device, policy: Policy, seconds: float, *, traits: bool
    ) -> None:
        """`problem` and `source` are texts of one size; `seconds` bounds all calls of the candidate together."""
        self.device, self.seconds, self.first = device, seconds, Step("", "own")
        self.accuracy: list[Json] = []
        self.findings: list[str] = []
        self.random = self.scales = self.same_weights = self.has_weights = False
        self.weights = ""
        self.call_s = 0.0
        self.bytes = 0
        self.launches = 0
        self.work: list[frozenset[str]] = []
        """What each call on usual inputs was seen to do, without a GPU."""
        self._most = 0
        self.tampered: list[str] = []
        self._shared = {
            "problem": problem,
            "policy": policy.value,
            "device": "cuda" if device.present else "cpu",
            "seed": secret(),
        }
        self._source, self._traits = source, traits
        self._stack = ExitStack()
        self._judging: Future[None] | None = None
        self._number = 0
        self._bits: dict[int, str] = {}
        self._digests: dict[int, str] = {}

    def __enter__(self) -> Self:
        with self._stack as stack:
            stack.enter_context(beside_other_checks(self.device))
            self._folder = stack.enter_context(scratch(scratch_parent()))
            self._pool = stack.enter_context(ThreadPoolExecutor(1))
            opening = self._pool.submit(self._open_referee)
            try:
                candidate = {**self._shared, "source": self._source}
                self._child = stack.enter_context(self._open("candidate", candidate, self.seconds, self._folder))
            finally:
                self._referee = stack.enter_context(opening.result())
            if self._referee.opened.state in LOST:
                raise self._blame(Lost(self._referee.opened, None))
            self._meet(self._child.opened, self._referee.opened.require("setting the reference up"))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        with self._stack:
            if self._judging:
                self._judging.exception()  # the referee must not be closed under it
            shelf.put(self._source, Path(self._folder))
            if isinstance(error, Lost):
                raise self._blame(error)

    def run(self, steps: Iterable[Step]) -> None:
        """Make calls, the judging of each beside the next."""
        for step in steps:
            self._judge_later(step, self.call(step))
        self.settle()

    @property
    def big(self) -> bool:
        """Whether a few such problems would fill the memory: both sides work in turns, and on fewer cases."""
        return self.bytes > BIG_BYTES

    def call(self, step: Step, draw: int | None = None, *, data: bool = True) -> Json:
        """What the candidate says of a call; its outputs lie in files."""
        self._number += 1
        message = {"do": "call", "name": f"call-{self._number}", "case": step.case(draw), "poison": step.poison}
        asked = {**message, "fresh": step.fresh and not self.big, "most": self._most, "data": data}
        answer = self._ask(asked)
        self.work += [] if step.strided else [frozenset(answer["work"])]
        self.call_s = answer["seconds"]
        return answer

    def judged(self, step: Step, answer: Json) -> Json:
        """The referee's word on a call."""
        asked = {"do": "judge", "case": step.case(), "name": step.name, "answer": self._with_state(answer)}
        told = self._told(asked)
        self._remove(answer)
        return told

    def repeat(self, step: Step, poison: int) -> bool:
        """The same call once more: whether it gives the same bits.

        Raises:
            CandidateError: it does not, and is wrong.
        """
        step = replace(step, poison=poison)
        if self.big and self.call(step, data=False)["digest"] == self._digests.get(step.seed):
            return True
        told = self.judged(step, self.call(step))
        if wrong := faults_of(told):
            if any(fault.kind is not Status.MISMATCH for fault in wrong):
                raise failure(wrong)
            raise failure(wrong, Status.NONDETERMINISTIC, "a second run on the same inputs differs and is wrong: ")
        return bool(told["bits"] == self._bits.get(step.seed))

    def draws(self, step: Step, count: int) -> None:
        """Several calls on the same inputs with other random numbers, compared by distribution."""
        answers = [self._with_state(self.call(step, draw)) for draw in range(count)]
        asked = {"do": "draws", "case": step.case(), "name": step.name, "answers": answers}
        told = self._told(asked)
        self._take(step, told)

    def show(self, step: Step) -> Json:
        """The verdict on one call, and some values beside the right ones."""
        answer = self.call(step)
        shown = self._told({"do": "show", "case": step.case(), "answer": answer})
        wrong = faults_of(self.judged(step, answer))
        status, feedback = (wrong[0].kind, in_words(wrong)) if wrong else (Status.OK, "")
        return {"status": status.value, "feedback": feedback, "outputs": shown["outputs"]}

    def replay(self, step: Step) -> Json:
        """What becomes of a call without the candidate's launches."""
        asked = {"do": "replay", "case": step.case(), "poison": NAN_BYTE, "fresh": False, "most": self._most}
        return self._ask(asked)["replay"]  # type: ignore[no-any-return]

    def settle(self) -> None:
        """Wait for the judging under way."""
        judging, self._judging = self._judging, None
        if judging:
            judging.result()

    def _judge_later(self, step: Step, answer: Json) -> None:
        self.settle()
        self._judging = self._pool.submit(lambda: self._take(step, self.judged(step, answer)))
        self._digests[step.seed] = answer["digest"]
        if self.big:
            self.settle()

    def _take(self, step: Step, told: Json) -> None:
        if wrong := faults_of(told):
            raise failure(wrong, before=CHANGED.get(step.weights, ""), after=self.weights)
        self.accuracy += told["accuracy"]
        self.findings += [told["finding"]] if told.get("finding") else []
        self._bits[step.seed] = told["bits"]

    def _meet(self, opened: Reply, introduced: Json) -> None:
        answer = self._answered(opened, "open")
        self.random, self.scales = bool(introduced["random"]), bool(introduced["scales"])
        self.weights = answer["weights"]
        self.bytes = int(introduced["bytes"])
        self._most = MANY * (int(introduced["parts"]) + 1)
        self.has_weights = bool(introduced["parameters"])
        self.same_weights = not self.weights and answer["parameters"] == introduced["parameters"]

    def _with_state(self, answer: Json) -> Json:
        return {**answer, "same_state": not self.weights}

    def _ask(self, message: Json) -> Json:
        began, before = monotonic(), self._child.processor_s
        writing = self.bytes / SLOWEST_WRITE  # of outputs to files: ours, not the candidate's
        reply = self._child.ask(message, max(0.0, self.seconds) + writing)
        took, used = monotonic() - began, self._child.processor_s - before
        # What it lacked a processor for on a busy machine is not its own; nor can it sleep for ever.
        self.seconds -= max(0.0, min(took, max(used, took / PATIENCE)) - writing)
        return self._answered(reply, message["do"])

    def _answered(self, reply: Reply, asked: str) -> Json:
        if not reply.ok:
            self.settle()  # what was wrong before comes first
            if self._child.lost:
                raise WarmLost(reply.error)
            raise candidate_failure(reply, self.device, calls=self._number - 1)
        answer = well_formed(reply.value, asked)
        self.launches, self.tampered = answer["launches"], answer["tampered"]
        return answer

    def _told(self, message: Json) -> Json:
        """The referee's answer; it runs no code of the candidate."""
        reply = self._referee.ask(message, REFEREE_S)
        if reply.state in LOST:
            raise Lost(reply, message)
        return reply.require("comparing outputs with the reference")

    def _blame(self, lost: "Lost") -> CandidateError:
        """Whose fault it is that the referee failed: asked again, with the candidate gone.

        Raises:
            MachineError: the problem's or the machine's.
        """
        self._child.close()
        if self._referee.lost or self._child.lost:
            raise WarmLost(lost.reply.error)
        with self._open_referee() as alone:
            reply = alone.ask(lost.message, REFEREE_S) if lost.message else alone.opened
        if reply.ok:
            return CandidateError(*LOST[lost.reply.state])
        if reply.state == "out_of_memory":
            raise MachineError(
                f"the reference, or comparing with it, needs more memory than there is ({reply.error}); that is the "
                "problem's size or whoever else uses the machine, not the candidate"
            )
        raise MachineError(f"comparing outputs with the reference: {reply.state}: {reply.error}")

    def _open_referee(self) -> Worker:
        asked = {**self._shared, "folder": self._folder, "first": self.first.case(), "traits": self._traits}
        return self._open("compare", asked, REFEREE_S, None, (self._folder,))

    def _open(
        self, task: str, payload: Json, seconds: float, folder: str | None, reads: tuple[str, ...] = ()
    ) -> Worker:
        limits = bounds(self.device, seconds, folder, reads)
        return open_worker(f"egg.tools.tasks.{task}:serve", payload, limits, interpret=not self.device.present)

    def _remove(self, answer: Json) -> None:
        """Files that have been judged: at full size a few of them fill a disk."""
        for entry in (*answer["outputs"], *answer["buffers"], *answer["changed"]):
            path = Path(self._folder, os.path.basename(entry["file"]))
            if path.suffix == ".raw":
                path.unlink(missing_ok=True)


def bounds(device: Device, seconds: float, folder: str | None = None, reads: tuple[str, ...] = ()) -> Bounds:
    """Limits of a child that runs a problem's tensors."""
    memory = GPU_BYTES if device.present else CPU_BYTES
    return Bounds(seconds=seconds, memory_bytes=memory, folder=folder, reads=reads)
