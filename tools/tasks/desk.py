"""For the candidate's child: has kernels compiled by its owner while the candidate's host code runs on."""

import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

from egg.tools.assembly.compiled import Compiled
from egg.tools.launched import Job

Json = dict[str, Any]


class Desk:
    """Host code runs in a thread of its own; what it asks for is handed out, one message at a time, in this one."""

    def __init__(self, *, eager: bool) -> None:
        self.eager = eager
        self._numbers = 0
        self._out: SimpleQueue[Json | None] = SimpleQueue()
        self._in: SimpleQueue[Json] = SimpleQueue()
        self._known: dict[int, Compiled] = {}
        self._result: Json = {}
        self._error: BaseException | None = None

    def submit(self, job: Job) -> int:
        """Have a kernel compiled; its number. Does not wait."""
        number, self._numbers = self._numbers, self._numbers + 1
        self._out.put({"jobs": [job.model_dump()], "need": []})
        return number

    def wait(self, jobs: Sequence[int]) -> list[Compiled]:
        """What came of kernels, by number."""
        if missing := sorted(set(jobs) - self._known.keys()):
            self._out.put({"jobs": [], "need": missing})
            answers = self._in.get()
            self._known |= {number: Compiled.model_validate(answers[str(number)]) for number in missing}
        return [self._known[number] for number in jobs]

    def employ(self, work: Callable[[], Json]) -> None:
        """Start the work that will ask."""

        def employed() -> None:
            try:
                self._result = work()
            except BaseException as error:  # raised again by `result`, in the thread that answers
                self._error = error
            finally:
                self._out.put(None)

        threading.Thread(target=employed, daemon=True).start()

    def asked(self) -> Json | None:
        """The next thing that is asked for; None when the work is done."""
        return self._out.get()

    def tell(self, compiled: Json) -> None:
        """Answer a need."""
        self._in.put(compiled)

    def result(self) -> Json:
        """What the work returned. Raises what it raised."""
        if self._error is not None:
            raise self._error
        return self._result
