"""What a run is doing, folded from the graph's stream: one row a stage, the kernel in force, the bill."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Literal

from egg.state.candidate import Attempt, Candidate
from egg.state.device import Device
from egg.state.evaluation import Baseline
from egg.state.ledger import Decision, Verb
from egg.state.search import Searched
from egg.state.usage import Spend, Usage

AHEAD = ("intake", "baseline", "choose", "mapping", "tiling", "memory", "confirm", "report")
"""Stages known before the run says so; seeds appear as they start."""


@dataclass
class Row:
    """One stage or seed."""

    name: str
    state: Literal["waiting", "running", "done"] = "waiting"
    doing: str = ""
    result: str = ""
    tried: int = 0
    searched: str = ""
    spend: Spend = field(default_factory=Spend)
    started: float | None = None
    seconds: float | None = None


@dataclass
class Progress:
    """A run as far as its events have told. `feed` returns lines worth printing where there is no screen to redraw."""

    rows: dict[str, Row] = field(default_factory=lambda: {name: Row(name) for name in AHEAD})
    device: Device | None = None
    baseline: Baseline | None = None
    incumbent: Candidate | None = None
    first_ms: float | None = None
    usage: Usage = field(default_factory=Usage)
    _rows_of_tasks: dict[str, Row] = field(default_factory=dict)
    _taken: dict[str, Candidate] = field(default_factory=dict)

    def restore(self, values: Mapping[str, Any]) -> None:
        """Start from a checkpoint's values."""
        list(self._settle(values))
        for decision in values.get("ledger", ()):
            self._row(decision.stage).state = "done"
        for name, done in (("intake", "problem" in values), ("baseline", "baseline" in values)):
            if done:
                self.rows[name].state = "done"

    @property
    def spend(self) -> Spend:
        """Everything spent: finished stages, and what the running ones have spent so far."""
        return self.usage.total + sum((row.spend for row in self.rows.values()), Spend())

    def spent(self, row: Row) -> Spend:
        """What one stage or seed has spent, so far or in all."""
        if row.state == "running":
            return row.spend
        own = (spend for name, spend in self.usage.by_agent.items() if name.rpartition("/")[0] == row.name)
        return sum(own, Spend())

    @property
    def gain(self) -> float | None:
        """The incumbent's time over eager's where both were measured, else over the first correct kernel's estimate."""
        if self.incumbent is None or not self.first_ms:
            return None
        eager = self.baseline.eager if self.baseline else None
        timed = self.incumbent.evaluation.timing if self.incumbent.evaluation else None
        if eager and timed:
            return timed.median_ms / eager.median_ms
        return self.incumbent.rank_ms / self.first_ms

    def feed(self, event: Mapping[str, Any]) -> Iterator[str]:
        """Take in one event of `graph.stream(version="v2", subgraphs=True)`."""
        data, ns = event["data"], event["ns"]
        if event["type"] == "tasks":
            yield from self._task(data, ns)
        elif event["type"] == "custom" and "waits" in data and ns:
            yield from self._waits(ns, data["waits"])
        elif event["type"] == "updates":
            for node, update in data.items():
                if isinstance(update, Mapping):
                    yield from self._settle(update) if not ns else self._inside(ns, node, update)

    def _task(self, data: Mapping[str, Any], ns: tuple[str, ...]) -> Iterator[str]:
        if not ns:
            row = self._rows_of_tasks.get(data["id"])
            if row is None:
                row = self._rows_of_tasks[data["id"]] = self._row(_named(data))
            if data.get("interrupts"):
                row.state, row.doing = "running", "waits for an answer"
            elif "result" in data:
                if row.spend.calls > row.spend.free or row.spend.failed:
                    yield f"  {row.name}: spent {row.spend.short()}"
                row.state, row.doing, row.spend = "done", "", Spend()
                row.seconds = monotonic() - (row.started or monotonic())
            else:
                row.state, row.started = "running", monotonic()
                if data["name"] != "review":  # that asks about a stage which has said this already
                    yield f"{row.name} ..."
        elif (row := self._rows_of_tasks.get(ns[0].partition(":")[2])) is None:
            return
        elif "result" in data:
            result = data["result"] if isinstance(data["result"], Mapping) else {}
            if isinstance(searched := result.get("searched"), Searched) and row.searched != searched.told:
                row.searched = searched.told
                yield f"  {row.name}: {searched.told} ({searched.seconds:.1f} s)"
        else:
            inner = [part.partition(":")[0] for part in ns[1:]]
            row.doing = ": ".join([*inner, data["name"]])

    def _inside(self, ns: tuple[str, ...], node: str, update: Mapping[str, Any]) -> Iterator[str]:
        """What a stage does before it settles: its agents' spending and the verdicts on its kernels."""
        row = self._rows_of_tasks.get(ns[0].partition(":")[2])
        if row is None or len(ns) != 1:
            return
        if "usage" in update:
            row.spend += update["usage"].total
        for attempt in update.get("attempts", ()):
            row.tried += 1
            yield f"  {row.name}: kernel {attempt.id} {_verdict(attempt)}"
        if isinstance(kernel := update.get("incumbent"), Candidate):
            self._take(kernel)

    def _waits(self, ns: tuple[str, ...], why: str) -> Iterator[str]:
        """An agent that cannot get its answer yet."""
        if row := self._rows_of_tasks.get(ns[0].partition(":")[2]):
            row.doing = why
            yield f"  {row.name}: {why}"

    def _settle(self, update: Mapping[str, Any]) -> Iterator[str]:
        """An update of the run's own state."""
        self.device = update.get("device", self.device)
        self.baseline = update.get("baseline", self.baseline)
        if "usage" in update:
            self.usage += update["usage"]
        if isinstance(kernel := update.get("incumbent"), Candidate):
            self._take(kernel)
        for decision in update.get("ledger", ()):
            if decision.verb is Verb.REFUSED:
                self._give_back(decision.stage)
            row = self._row(decision.stage)
            row.result = f"{decision.verb.value}: {decision.what}"
            yield _line(decision)

    def _take(self, kernel: Candidate) -> None:
        """Keep the best kernel seen; parallel seeds report in any order."""
        self.first_ms = self.first_ms or kernel.rank_ms
        known = self._taken.get(kernel.origin, kernel)
        self._taken[kernel.origin] = kernel if kernel.rank_ms <= known.rank_ms else known
        if self.incumbent is None or kernel.rank_ms <= self.incumbent.rank_ms:
            self.incumbent = kernel

    def _give_back(self, stage: str) -> None:
        """A person refused a stage's kernel after it had been taken; refusing the choice leaves no kernel at all."""
        self._taken = {} if stage == "choose" else {origin: k for origin, k in self._taken.items() if origin != stage}
        if stage != "confirm":
            self.incumbent = min(self._taken.values(), key=lambda kernel: kernel.rank_ms, default=None)

    def _row(self, name: str) -> Row:
        if name not in self.rows:
            seeds = {name: Row(name)}
            after = {known: self.rows.pop(known) for known in AHEAD[2:] if known in self.rows}
            self.rows.update(seeds | after)
        return self.rows[name]


def _named(task: Mapping[str, Any]) -> str:
    """The row of a run's task: its branch, what it is asked about, or its own name."""
    given = task["input"] if isinstance(task.get("input"), Mapping) else {}
    decided = given.get("decided")
    return str(given.get("branch") or (decided.stage if decided else task["name"]))


def _verdict(attempt: Attempt) -> str:
    time = f", {attempt.rank_ms:.4g} ms" if attempt.rank_ms is not None else ""
    return f"{attempt.status}{time}"


def _line(decision: Decision) -> str:
    return f"{decision.stage} {decision.verb.value}: {decision.what} ({decision.evidence})"
